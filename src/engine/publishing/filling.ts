import type { EventLog } from '../log/event-log.ts'
import type { Filled, PartitionMemory, PartitionTurn, Progress, ToldRecord } from '../log/published-log.ts'
import { type DocumentId, documentsIn } from '../read-models/document.ts'
import type { AtLeast, Reached, ReadModel } from '../read-models/read-model.ts'
import { type Checkpoint, decodeParkedStream, decodeRow, startOfPartition } from '../read-models/stored-texts.ts'
import type { StreamNames } from '../read-models/stream-names.ts'
import type { DocumentRecords, VersionedDocument } from './document-records.ts'
import type { Filling, LanePartition } from './teller.ts'

export interface FillingOptions {
  readonly log: Pick<EventLog, 'partitionFor'>
  readonly readModel: Pick<ReadModel, 'page' | 'loadAll' | 'texts'>
  /** What is copied. */
  readonly collections: readonly string[]
  readonly names: StreamNames
  /** The versions of the projections of this release. */
  readonly projections: string
  readonly records: DocumentRecords
}

type Copying = NonNullable<Filled['copying']>

/** The set behind the collections: what of its rows says that a document is removed. */
const rows = 'rows'
const documentsAtOnce = 500
/** Characters of documents that one step tells, unless one alone has more. */
const charactersMax = 4_000_000
const waitMs = 250

/**
 * Copies the read models into the topics of documents, where nothing was told yet or other projections made what was
 * told (decision 0070). The place from which events are told afterwards is how far the read models were before anything
 * was copied, so that nothing is between the two. First comes what is parked: those streams wait at their first parked
 * event, although the events that a discard may apply are before that place.
 */
export class ReadModelFilling implements Filling {
  readonly #options: FillingOptions
  /** The walk through the rows, which begins once all partitions have come so far. No position has its place. */
  #walk: ReturnType<ReadModel['texts']> | undefined

  constructor(options: FillingOptions) {
    this.#options = options
  }

  isDone({ filled }: PartitionMemory): boolean {
    return filled?.projections === this.#options.projections && filled.copying === undefined
  }

  async turns(partitions: readonly LanePartition[]): Promise<readonly PartitionTurn[]> {
    const { projections } = this.#options
    const toBegin = partitions.filter(({ memory }) => memory.filled?.projections !== projections)
    if (toBegin.length > 0) return await this.#begin(toBegin)
    const [first = { set: rows, after: 0 }] = partitions.map(placeOf).sort((one, other) => this.#compare(one, other))
    return first.set === rows ? await this.#copyRemoved(partitions) : await this.#copyPage(partitions, first)
  }

  async #begin(partitions: readonly LanePartition[]): Promise<readonly PartitionTurn[]> {
    const { readModel, collections } = this.#options
    const checkpoints = new Map<number, Checkpoint>()
    const places = new Map(
      partitions.map(({ partition, memory }) => {
        const forgotten = [...memory.waiting.keys()].map((stream) => [stream, undefined] as const)
        return [partition, new Map<string, number | undefined>(forgotten)]
      }),
    )
    for await (const { items, reached } of readModel.texts('parked')) {
      for (const [partition, each] of checkpointsIn(reached)) {
        if (!checkpoints.has(partition)) checkpoints.set(partition, each)
      }
      for (const [stream, text] of items) {
        const { partition, first } = decodeParkedStream(stream, text)
        places.get(partition)?.set(stream, first)
      }
    }
    const copying = { set: collections[0] ?? rows, after: 0 }
    return partitions.map(({ partition, memory }) => {
      const { next, last } = checkpoints.get(partition) ?? startOfPartition
      const progress = { ...this.#progressOf(memory, [], copying), next, last }
      return { partition, records: [], progress, places: places.get(partition) ?? new Map() }
    })
  }

  async #copyPage(partitions: readonly LanePartition[], place: Copying): Promise<readonly PartitionTurn[]> {
    const { readModel } = this.#options
    const { set: collection, after } = place
    const atLeast = reachedBy(partitions)
    const page = await readModel.page({ collection, after, limit: documentsAtOnce }, atLeast)
    const ids = idsWithin(page.documents)
    const isAll = ids.length === page.count && page.last === undefined
    const next = isAll ? this.#behind(collection) : { set: collection, after: ids.at(-1) ?? after }
    const places = new Set(partitions.map(({ partition }) => partition))
    const own = ids.filter((id) => places.has(this.#partitionOf({ collection, id })))
    const queries = own.map((id) => ({ document: { collection, id } }))
    const loaded = queries.length === 0 ? [] : await readModel.loadAll(queries, atLeast)
    // One that is not there any more was removed behind the place: its event tells that.
    const found = loaded.flatMap(({ document, row }, i): VersionedDocument[] => {
      if (document === undefined || row === undefined) return []
      return [{ collection, id: own[i] ?? 0, json: document.json, stream: row.stream, version: row.version }]
    })
    return partitions.map((each) => {
      const from = placeOf(each)
      const isNew = ({ id }: VersionedDocument) => this.#compare(from, { set: collection, after: id }) < 0
      const to = this.#compare(from, next) < 0 ? next : from
      return this.#turn(each, found.filter(isNew), to)
    })
  }

  /** Whoever begins anew in the middle tells some of them again. */
  async #copyRemoved(partitions: readonly LanePartition[]): Promise<readonly PartitionTurn[]> {
    const { readModel, names } = this.#options
    this.#walk ??= readModel.texts(rows, reachedBy(partitions))
    try {
      const { value: page } = await this.#walk.next()
      if (page === undefined) this.#walk = undefined
      const removed = (page?.items ?? []).flatMap(([stream, text]): VersionedDocument[] => {
        const { isRemoved, version } = decodeRow(stream, undefined, text)
        const document = names.documentOf(stream)
        return isRemoved && document !== undefined ? [{ ...document, json: null, stream, version }] : []
      })
      const to = page === undefined ? undefined : { set: rows, after: 0 }
      return partitions.map((each) => this.#turn(each, removed, to))
    } catch (error) {
      this.#walk = undefined
      throw error
    }
  }

  /** `documents` are those of all partitions; `copying` is where the copy of this one goes on. */
  #turn(
    { partition, memory }: LanePartition,
    documents: readonly VersionedDocument[],
    copying: Copying | undefined,
  ): PartitionTurn {
    const told = this.#options.records.of(documents.filter((each) => this.#partitionOf(each) === partition))
    return { partition, records: told, progress: this.#progressOf(memory, told, copying), places: new Map() }
  }

  #partitionOf(document: DocumentId): number {
    const { log, names } = this.#options
    return log.partitionFor(names.keyOf(document))
  }

  #progressOf(
    { next, last, told }: PartitionMemory,
    records: readonly ToldRecord[],
    copying: Copying | undefined,
  ): Progress {
    return { next, last, told: told + records.length, filled: { projections: this.#options.projections, copying } }
  }

  #behind(collection: string): Copying {
    const { collections } = this.#options
    return { set: collections[collections.indexOf(collection) + 1] ?? rows, after: 0 }
  }

  #compare(one: Copying, other: Copying): number {
    return this.#orderOf(one) - this.#orderOf(other) || one.after - other.after
  }

  #orderOf({ set }: Copying): number {
    const { collections } = this.#options
    return set === rows ? collections.length : collections.indexOf(set)
  }
}

function placeOf({ memory }: LanePartition): Copying {
  return memory.filled?.copying ?? { set: rows, after: 0 }
}

function checkpointsIn(reached: Reached): readonly (readonly [number, Checkpoint])[] {
  return reached.flatMap((each) => [...each])
}

/** Nothing is copied from before the place from which events are told afterwards. */
function reachedBy(partitions: readonly LanePartition[]): AtLeast {
  const positions = partitions.flatMap(({ partition, memory: { next } }) =>
    next > 0 ? [{ partition, offset: next - 1 }] : [],
  )
  return { positions, wait: { timeoutMs: waitMs } }
}

/** As many as one step tells, and one at least. */
function idsWithin(documents: string): readonly number[] {
  let characters = 0
  const all = documentsIn(documents)
  const end = all.findIndex(({ json }, i) => {
    characters += json.length
    return i > 0 && characters > charactersMax
  })
  return (end === -1 ? all : all.slice(0, end)).map(({ id }) => id)
}
