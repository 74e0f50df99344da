import type { EventLog, Position, Subscriber, Subscription } from '../log/event-log.ts'
import type { DamagedError } from './damaged.ts'
import { type DocumentId, documentsIn, type TextSet } from './document.ts'
import type { CountQuery, IdRange, PageQuery, StreamQuery } from './ports/reads.ts'
import type { ReadModelStore } from './ports/store.ts'
import type {
  Applied,
  AtLeast,
  Counts,
  FoundDocument,
  FoundStream,
  LocatedStreamQuery,
  Page,
  ReadModel,
  TextPage,
  Wait,
} from './read-model.ts'
import type { StreamNames } from './stream-names.ts'

/** One per shard, built from the partitions that `shardOf` assigns to the shard (decision 0016). */
export type Stores = readonly [ReadModelStore, ...ReadModelStore[]]

/** What projecting and proving read models uses of a log. */
export type ShardLog = Pick<EventLog, 'logId' | 'endOffsets' | 'partitionFor' | 'read' | 'confirm' | 'subscribe'>

export function shardOf(partition: number, shards: number): number {
  return partition % shards
}

/** The version of each shard: its name includes the number of shards, unless there is only one. */
export function shardVersions(version: string, shards: number): readonly string[] {
  return shards === 1 ? [version] : Array.from({ length: shards }, (_, shard) => `${version}.s${shards}-${shard}`)
}

/** Index and number of shards, from the name of a version; 0 of 1 if the name has none. */
export function shardNamed(version: string): { readonly shard: number; readonly shards: number } {
  const [shards = 1, shard = 0] = /\.s(\d{1,3})-(\d{1,3})$/.exec(version)?.slice(1).map(Number) ?? []
  return shard < shards ? { shard, shards } : { shard: 0, shards: 1 }
}

/** A shard's store, and the part of the log that concerns the shard. */
export interface Shard {
  readonly store: ReadModelStore
  readonly log: ShardLog
}

/**
 * The partitions of other shards look empty, and are never assigned. A single shard gets the log as it is. Several share
 * one subscription, so each has to subscribe, in their order.
 */
export function shardsOf(stores: Stores, log: ShardLog): readonly Shard[] {
  const shards = stores.length
  if (shards === 1) return [{ store: stores[0], log }]
  const subscribe = oneSubscription(log, shards)
  return stores.map((store, shard) => {
    const own: ShardLog = {
      logId: log.logId,
      endOffsets: async () =>
        (await log.endOffsets()).map((end, partition) => (shardOf(partition, shards) === shard ? end : 0)),
      partitionFor: (key) => log.partitionFor(key),
      read: (...place) => log.read(...place),
      confirm: () => log.confirm(),
      subscribe,
    }
    return { store, log: own }
  })
}

/** Begins once each shard has subscribed, and ends for all when the first one closes. */
function oneSubscription(log: ShardLog, shards: number): ShardLog['subscribe'] {
  const subscribers: Subscriber[] = []
  const { promise: subscription, resolve, reject } = Promise.withResolvers<Subscription>()
  const all: Subscriber = {
    assigned: (partitions) => {
      for (const [shard, each] of subscribers.entries())
        each.assigned(partitions.filter((partition) => shardOf(partition, shards) === shard))
    },
    batch: async (batch) => (await subscribers[shardOf(batch.partition, shards)]?.batch(batch)) ?? false,
  }
  return (group, subscriber) => {
    subscribers.push(subscriber)
    if (subscribers.length === shards) log.subscribe(group, all).then(resolve, reject)
    return subscription
  }
}

/**
 * A read model over shards, each of which proves its answers (decision 0016). Nothing is atomic across shards: each is
 * as new as it is.
 */
export class ShardedReadModel implements ReadModel {
  readonly #shards: readonly ReadModel[]
  readonly #log: Pick<EventLog, 'partitionFor'>
  readonly #names: StreamNames

  constructor(shards: readonly ReadModel[], log: Pick<EventLog, 'partitionFor'>, names: StreamNames) {
    this.#shards = shards
    this.#names = names
    this.#log = log
  }

  async find(document: DocumentId, atLeast?: AtLeast, owner?: string): Promise<FoundDocument> {
    const shard = this.#shardOf(this.#log.partitionFor(this.#names.keyOf(document)))
    return await this.#at(shard).find(document, this.#ownOf(shard, atLeast), owner)
  }

  /** The first `limit` documents overall are among the first `limit` of each shard. */
  async page(query: PageQuery, atLeast?: AtLeast, owner?: string): Promise<Page> {
    const pages = await Promise.all(
      this.#shards.map((model, shard) => model.page(query, this.#ownOf(shard, atLeast), owner)),
    )
    const found = pages.flatMap(({ documents }) => documentsIn(documents)).sort((one, other) => one.id - other.id)
    const shown = found.slice(0, query.limit)
    const isMore = found.length > shown.length || pages.some(({ last }) => last !== undefined)
    return {
      documents: shown.map(({ json }) => json).join(','),
      count: shown.length,
      last: isMore ? shown.at(-1)?.id : undefined,
      reached: pages.flatMap(({ reached }) => reached),
    }
  }

  async count(query: CountQuery, atLeast?: AtLeast, owner?: string): Promise<Counts> {
    const found = await Promise.all(
      this.#shards.map((model, shard) => model.count(query, this.#ownOf(shard, atLeast), owner)),
    )
    const ofAll = (place: number) => found.reduce((sum, { counts }) => sum + (counts[place] ?? 0), 0)
    return { counts: query.indexKeys.map((_, place) => ofAll(place)), reached: found.flatMap(({ reached }) => reached) }
  }

  async load(query: StreamQuery, atLeast?: AtLeast, owner?: string): Promise<FoundStream> {
    const { stream, document, key } = query
    const name = stream ?? (document && this.#names.keyOf(document))
    const partition = name === undefined ? key?.partition : this.#log.partitionFor(name)
    const shard = this.#shardOf(partition ?? 0)
    return await this.#at(shard).load(query, this.#ownOf(shard, atLeast), owner)
  }

  async loadAll(queries: readonly LocatedStreamQuery[], atLeast?: AtLeast): Promise<readonly FoundStream[]> {
    const shards = queries.map(({ stream, document }) =>
      this.#shardOf(this.#log.partitionFor(stream ?? (document && this.#names.keyOf(document)) ?? '')),
    )
    const loads = [...new Set(shards)].map(async (shard) => {
      const own = queries.filter((_, i) => shards[i] === shard)
      return [shard, (await this.#at(shard).loadAll(own, this.#ownOf(shard, atLeast))).values()] as const
    })
    const found = new Map(await Promise.all(loads))
    return shards.flatMap((shard) => found.get(shard)?.next().value ?? [])
  }

  async *texts(set: TextSet, atLeast?: AtLeast): AsyncGenerator<TextPage, void> {
    for (const [shard, model] of this.#shards.entries()) yield* model.texts(set, this.#ownOf(shard, atLeast))
  }

  async holdsAny(range: IdRange, atLeast?: AtLeast): Promise<boolean> {
    const held = await Promise.all(
      this.#shards.map((model, shard) => model.holdsAny(range, this.#ownOf(shard, atLeast))),
    )
    return held.includes(true)
  }

  whenApplied(position: Position, wait: Wait): Promise<Applied> {
    return this.#at(this.#shardOf(position.partition)).whenApplied(position, wait)
  }

  generationOf(partition: number): string | undefined {
    return this.#at(this.#shardOf(partition)).generationOf(partition)
  }

  reportDamage(partition: number, error: DamagedError): void {
    this.#at(this.#shardOf(partition)).reportDamage(partition, error)
  }

  #shardOf(partition: number): number {
    return shardOf(partition, this.#shards.length)
  }

  #at(shard: number): ReadModel {
    const model = this.#shards[shard]
    if (model === undefined) throw new RangeError(`no shard ${shard}`)
    return model
  }

  /** A position can be reached only in the shard of its partition. */
  #ownOf(shard: number, atLeast: AtLeast | undefined): AtLeast | undefined {
    const positions = atLeast?.positions.filter(({ partition }) => this.#shardOf(partition) === shard) ?? []
    return atLeast && positions.length > 0 ? { ...atLeast, positions } : undefined
  }
}
