import type { Definition } from '../../../src/engine/definition/definition.ts'
import { defineStream, type Kind, streamKinds } from '../../../src/engine/definition/kinds.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { after, nothingTold, type PartitionMemory, type ToldRecord } from '../../../src/engine/log/published-log.ts'
import { eventText } from '../../../src/engine/log/record-codec.ts'
import { shownEvents } from '../../../src/engine/log/shown-event.ts'
import type { DocumentOptions } from '../../../src/engine/publishing/documents.ts'
import { eventTelling, type Teller, type Telling } from '../../../src/engine/publishing/teller.ts'
import { type TakenTurn, type TurnOptions, takeTurn } from '../../../src/engine/publishing/turn.ts'
import type { AtLeast, ReadModel } from '../../../src/engine/read-models/read-model.ts'
import { openProjection } from '../projector/projecting.ts'
import { type AnyRecord, logOf } from '../projector/records.ts'
import { theatre } from '../theatre/theatre.ts'
import { twoKinds } from '../two-kinds.ts'
import type { Step } from './any-journal.ts'

/** Whether an earlier release cannot apply events of this booking. */
export const isNew = (bookingId: number) => bookingId % 4 === 3

/** Parks events that the newest release applies, all of its second kind of streams too, and has projections of its own. */
const earlierRelease: Definition = {
  ...theatre,
  ...streamKinds([
    defineStream('theatre', {
      ...theatre.stream,
      projections: theatre.stream.projections.map((each) => ({ ...each, version: each.version - 1 })),
      evolve(state, recorded) {
        const { event } = recorded
        if ('bookingId' in event && isNew(event.bookingId)) throw new Error('not of this release')
        return theatre.stream.evolve(state, recorded)
      },
    }) as unknown as Kind,
  ]),
}

type Release = Awaited<ReturnType<typeof openRelease>>
export type PublishedWorld = Awaited<ReturnType<typeof openPublishedWorld>>
type TellingOf = (options: DocumentOptions) => Telling

/** A release whose read models are as far as they are brought. `loading` is called before each read. */
async function openRelease(
  definition: Definition,
  journal: readonly AnyRecord[],
  loading: () => number,
  telling: TellingOf,
) {
  const projection = await openProjection(undefined, definition)
  let applied = 0
  let applying = Promise.resolve()
  function catchUp(end: number): Promise<void> {
    applying = applying.then(async () => {
      const records = journal.slice(applied, end)
      await projection.apply(records)
      applied += records.length
    })
    return applying
  }
  let loads = 0
  async function reads(atLeast: AtLeast | undefined): Promise<void> {
    loads++
    await catchUp(applied + loading())
    if (atLeast?.positions.some(({ offset }) => offset >= applied)) {
      throw new ServiceError('read_model_behind', 'not yet')
    }
  }
  const readModel: LaneReads = {
    async loadAll(queries, atLeast) {
      await reads(atLeast)
      return await Promise.all(queries.map((query) => projection.readModel.load(query)))
    },
    async page(query, atLeast) {
      await reads(atLeast)
      return await projection.readModel.page({ ...query, limit: documentsAtOnce })
    },
    async *texts(set, atLeast) {
      let from: string | undefined
      do {
        await reads(atLeast)
        const page = await projection.store.inspection.scan('generation', set, from, 1)
        yield { items: page?.items ?? [], reached: page === undefined ? [] : [page.snapshot.checkpoints] }
        from = page?.next
      } while (from !== undefined)
    },
    reportDamage: () => {},
  }
  const log = logOver(journal)
  const { newTeller } = telling({ definition, log, readModel })
  return { definition, catchUp, readModel, log, newTeller, projection, loads: () => loads }
}

type LaneReads = Pick<ReadModel, 'loadAll' | 'page' | 'texts' | 'reportDamage'>
const documentsAtOnce = 2

function logOver(journal: readonly AnyRecord[]) {
  return {
    partitions: 1,
    partitionFor: () => 0,
    endOffsets: async () => [journal.length],
    read: async (_: number, from: number, limit: number) => {
      const records = logOf(journal).slice(from, from + limit)
      return { records, next: from + records.length }
    },
  }
}

/** A journal, two releases that follow it, and what consumers have been told. */
export async function openPublishedWorld(loading: () => number = () => 0, telling: TellingOf = () => eventTelling) {
  const journal: AnyRecord[] = []
  const releases = {
    earlier: await openRelease(earlierRelease, journal, loading, telling),
    newest: await openRelease(twoKinds, journal, loading, telling),
  }
  const told: ToldRecord[] = []
  let memory: PartitionMemory = nothingTold
  let due: ReadonlySet<string> = new Set()
  let teller: { readonly of: Release; readonly is: Teller } | undefined

  /** One transaction of up to `steps`; nothing of it stays if it is aborted. Resolves to whether it changed anything. */
  async function turn(release: Release, steps: number, isCommitted: boolean): Promise<boolean> {
    if (teller?.of !== release) teller = { of: release, is: release.newTeller() }
    try {
      const taken = await next({ ...release, steps, teller: teller.is })
      const { progress, places } = taken.turn
      const isFilling = progress.filled !== memory.filled
      const isChange = isFilling || progress.next > memory.next || places.size > 0 || taken.due.size < due.size
      if (!isCommitted) {
        takeOver()
        return true
      }
      told.push(...taken.turn.records)
      memory = after(memory, taken.turn)
      due = taken.due
      return isChange
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return false
    }
  }
  async function next(options: TurnOptions): Promise<Pick<TakenTurn, 'turn' | 'due'>> {
    const { filling } = options.teller
    if (filling === undefined || filling.isDone(memory)) return await takeTurn(options, 0, memory, due)
    const [filled] = await filling.turns([{ partition: 0, memory }])
    if (filled === undefined) throw new Error('a filling has a turn of each partition')
    return { turn: filled, due: new Set(after(memory, filled).waiting.keys()) }
  }
  function takeOver(): void {
    teller = undefined
    due = new Set(memory.waiting.keys())
  }
  /** The topic is deleted. */
  function lose(): void {
    told.length = 0
    memory = nothingTold
    takeOver()
  }
  /** Until there is nothing left to tell. */
  async function finish(release: Release, steps: number): Promise<void> {
    await release.catchUp(journal.length)
    while (await turn(release, steps, true)) {}
  }
  /** What a release shows as having taken effect. */
  async function wanted({ projection }: Release): Promise<Record<string, string[]>> {
    const found: Record<string, string[]> = {}
    for (const stream of new Set(journal.map(({ key }) => String(key)))) {
      const { row } = await projection.readModel.load({ stream })
      const versions = { first: 1, last: row?.version ?? 0 }
      const { entries } = await projection.readModel.load({ stream, versions })
      const offsets = [...entries.values()].filter(({ isDiscarded }) => !isDiscarded).map(({ offset }) => offset)
      if (offsets.length > 0) found[stream] = offsets.flatMap((offset) => textsOf(journal[offset]))
    }
    return found
  }
  const published = () => {
    const streams = Map.groupBy(told, ({ key }) => key)
    return Object.fromEntries([...streams].map(([stream, of]) => [stream, of.map(({ value }) => value)]))
  }
  /** As these steps say; at last the newest release tells what is left. */
  async function live(all: readonly AnyRecord[], steps: readonly Step[]): Promise<void> {
    let by: 'earlier' | 'newest' = 'newest'
    for (const step of steps) {
      if (step.does === 'append') journal.push(...all.slice(journal.length, journal.length + step.count))
      else if (step.does === 'apply') await releases[step.which].catchUp(Math.round(step.share * journal.length))
      else if (step.does === 'turn') await turn(releases[by], step.steps, step.isCommitted)
      else if (step.does === 'lose') lose()
      else {
        if (step.does === 'switch') by = by === 'earlier' ? 'newest' : 'earlier'
        takeOver()
      }
    }
    journal.push(...all.slice(journal.length))
    if (by === 'earlier') takeOver()
    await finish(releases.newest, 3)
  }
  const { log } = releases.newest
  return {
    ...{ journal, log, releases, turn, takeOver, finish, live, wanted, published, told },
    get memory() {
      return memory
    },
  }
}

function textsOf(record: AnyRecord | undefined): readonly string[] {
  return shownEvents(eventText(record?.value ?? null))
}
