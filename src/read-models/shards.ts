import type { EventLog, Subscriber, Subscription } from '../event-log/event-log.ts'
import type { ReadModelStore } from './store.ts'

/** One for each shard: it is made from the partitions that `shardOf` gives the shard (decision 0016). */
export type Stores = readonly [ReadModelStore, ...ReadModelStore[]]

/** What projecting and proving read models takes of a log. */
export type ShardLog = Pick<EventLog, 'logId' | 'endOffsets' | 'partitionFor' | 'subscribe'>

export function shardOf(partition: number, shards: number): number {
  return partition % shards
}

/** Which of how many shards a version of the read models is, by its name; 0 of 1 where that names none. */
export function shardNamed(version: string): { readonly shard: number; readonly shards: number } {
  const [shards = 1, shard = 0] = /\.s(\d{1,3})-(\d{1,3})$/.exec(version)?.slice(1).map(Number) ?? []
  return shard < shards ? { shard, shards } : { shard: 0, shards: 1 }
}

/** A shard's store, and the log as far as it concerns the shard. */
export interface Shard {
  readonly store: ReadModelStore
  readonly log: ShardLog
}

export function shardsOf(stores: Stores, log: ShardLog): readonly Shard[] {
  if (stores.length === 1) return [{ store: stores[0], log }]
  return stores.map((store, shard) => ({ store, log: logOfShard(log, shard, stores.length) }))
}

/** As `shardsOf`, but all share one subscription: it begins once each has subscribed, and ends for all with the first. */
export function shardsOnOneSubscription(stores: Stores, log: ShardLog): readonly Shard[] {
  return shardsOf(stores, stores.length === 1 ? log : new SharedLog(log, stores.length))
}

/** The partitions of other shards look empty, and are never assigned. */
export function logOfShard(log: ShardLog, shard: number, shards: number): ShardLog {
  const isOwn = (partition: number) => shardOf(partition, shards) === shard
  return {
    logId: log.logId,
    endOffsets: async () => (await log.endOffsets()).map((end, partition) => (isOwn(partition) ? end : 0)),
    partitionFor: (key) => log.partitionFor(key),
    subscribe: (group, subscriber) =>
      log.subscribe(group, {
        assigned: (partitions) => subscriber.assigned(partitions.filter(isOwn)),
        batch: (batch) => (isOwn(batch.partition) ? subscriber.batch(batch) : Promise.resolve(false)),
      }),
  }
}

/** Subscribers join in the order of their shards. */
class SharedLog implements ShardLog {
  readonly logId: string
  readonly #log: ShardLog
  readonly #shards: number
  readonly #subscribers: Subscriber[] = []
  readonly #subscription = Promise.withResolvers<Subscription>()

  constructor(log: ShardLog, shards: number) {
    this.logId = log.logId
    this.#log = log
    this.#shards = shards
  }

  endOffsets(): ReturnType<ShardLog['endOffsets']> {
    return this.#log.endOffsets()
  }

  partitionFor(key: string): number {
    return this.#log.partitionFor(key)
  }

  subscribe(group: string, subscriber: Subscriber): Promise<Subscription> {
    this.#subscribers.push(subscriber)
    if (this.#subscribers.length === this.#shards) {
      const all: Subscriber = {
        assigned: (partitions) => {
          for (const each of this.#subscribers) each.assigned(partitions)
        },
        batch: async (batch) =>
          (await this.#subscribers[shardOf(batch.partition, this.#shards)]?.batch(batch)) ?? false,
      }
      this.#log.subscribe(group, all).then(this.#subscription.resolve, this.#subscription.reject)
    }
    return this.#subscription.promise
  }
}
