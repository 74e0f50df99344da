import { defineStream, type StreamDefinition } from '../../../src/engine/definition/definition.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { after, nothingTold, type PartitionMemory } from '../../../src/engine/log/published-log.ts'
import { eventText } from '../../../src/engine/log/record-codec.ts'
import { shownEvent } from '../../../src/engine/log/shown-event.ts'
import { takeTurn } from '../../../src/engine/publishing/turn.ts'
import type { ReadModel } from '../../../src/engine/read-models/read-model.ts'
import { openProjection } from '../projector/projecting.ts'
import { type AnyRecord, logOf } from '../projector/records.ts'
import { theatre } from '../theatre/theatre.ts'

/** Whether an earlier release cannot apply events of this booking. */
export const isNew = (bookingId: number) => bookingId % 4 === 3

/** Parks events that `theatre` applies. */
const earlierRelease = defineStream('theatre', {
  ...theatre.stream,
  evolve(state, recorded) {
    const { event } = recorded
    if ('bookingId' in event && isNew(event.bookingId)) throw new Error('not of this release')
    return theatre.stream.evolve(state, recorded)
  },
}) as unknown as StreamDefinition

type Release = Awaited<ReturnType<typeof openRelease>>

/** A release whose read models are as far as they are brought. `loading` is called before each load. */
async function openRelease(definition: StreamDefinition, journal: readonly AnyRecord[], loading: () => number) {
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
  const loadAll: ReadModel['loadAll'] = async (queries, atLeast) => {
    loads++
    await catchUp(applied + loading())
    if (atLeast?.positions.some(({ offset }) => offset >= applied)) {
      throw new ServiceError('read_model_behind', 'not yet')
    }
    return await Promise.all(queries.map((query) => projection.readModel.load(query)))
  }
  return { definition, catchUp, readModel: { loadAll }, projection, loads: () => loads }
}

/** A journal, two releases that follow it, and what consumers have been told. */
export async function openPublishedWorld(loading: () => number = () => 0) {
  const journal: AnyRecord[] = []
  const releases = {
    earlier: await openRelease(earlierRelease, journal, loading),
    newest: await openRelease(theatre as unknown as StreamDefinition, journal, loading),
  }
  const log = {
    partitions: 1,
    partitionFor: () => 0,
    endOffsets: async () => [journal.length],
    read: async (_: number, from: number, limit: number) => {
      const records = logOf(journal).slice(from, from + limit)
      return { records, next: from + records.length }
    },
  }
  const told: { readonly stream: string; readonly value: string }[] = []
  let memory: PartitionMemory = nothingTold
  let due: ReadonlySet<string> = new Set()

  /** One transaction of up to `steps`; nothing of it stays if it is aborted. Resolves to whether it changed anything. */
  async function turn({ definition, readModel }: Release, steps: number, isCommitted: boolean): Promise<boolean> {
    try {
      const taken = await takeTurn({ definition, log, readModel, steps }, 0, memory, due)
      const { progress, places } = taken.turn
      const isChange = progress.next > memory.next || places.size > 0 || taken.due.size < due.size
      if (!isCommitted) {
        takeOver()
        return true
      }
      told.push(...taken.turn.records.map(({ key, value }) => ({ stream: key, value })))
      memory = after(memory, taken.turn)
      due = taken.due
      return isChange
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return false
    }
  }
  function takeOver(): void {
    due = new Set(memory.waiting.keys())
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
      if (offsets.length > 0) found[stream] = offsets.map((offset) => textOf(journal[offset]))
    }
    return found
  }
  const published = () => {
    const streams = Map.groupBy(told, ({ stream }) => stream)
    return Object.fromEntries([...streams].map(([stream, of]) => [stream, of.map(({ value }) => value)]))
  }
  return { journal, log, releases, turn, takeOver, finish, wanted, published, told: () => told.length }
}

function textOf(record: AnyRecord | undefined): string {
  return shownEvent(eventText(record?.value ?? null))
}
