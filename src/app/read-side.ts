import type { Decisions } from '../command-handling/create-pet-once.ts'
import type { Reads } from '../domain/read-pets.ts'
import { ShardedReads } from '../domain/sharded-reads.ts'
import type { EventLog } from '../event-log/event-log.ts'
import type { Check } from '../http/health.ts'
import { AppliedProgress } from '../read-models/applied-progress.ts'
import { ConsistentReads } from '../read-models/consistent-reads.ts'
import { ProvenReads } from '../read-models/proven-reads.ts'
import { type Shard, type Shards, shardOf, shardsOf } from '../read-models/shards.ts'

/** What requests read, of however many shards. */
export interface ReadSide extends Decisions {
  readonly reads: Reads
  readonly state: Check & { readonly status: ReadSideStatus }
  close(): Promise<void>
}
/** 'degraded': some shards can be read, and some cannot. */
export type ReadSideStatus = ProvenReads['state']['status'] | 'degraded'

export function openReadSide(stores: Shards, log: EventLog): ReadSide {
  const shards = shardsOf(stores, log).map(openShard)
  const [only] = shards
  return shards.length === 1 && only !== undefined ? only : new ShardedReadSide(shards, log)
}

function openShard({ store, log }: Shard): ReadSide {
  const proven = new ProvenReads(store, log)
  const progress = new AppliedProgress(store)
  async function close(): Promise<void> {
    progress.close()
    await proven.close()
  }
  return {
    reads: new ConsistentReads(proven, progress),
    decision: proven.decision.bind(proven),
    whenApplied: progress.whenApplied.bind(progress),
    isParked: progress.isParked.bind(progress),
    get state() {
      return proven.state
    },
    close,
  }
}

class ShardedReadSide implements ReadSide {
  readonly reads: Reads
  /** In the shard of the partition that all events of the key are in. */
  readonly decision: ReadSide['decision']
  readonly whenApplied: ReadSide['whenApplied']
  readonly isParked: ReadSide['isParked']
  readonly #shards: readonly ReadSide[]

  constructor(shards: readonly ReadSide[], log: EventLog) {
    const partitionFor = (key: string) => log.partitionFor(key)
    const shardAt = (partition: number) => shards[shardOf(partition, shards.length)] as ReadSide
    this.#shards = shards
    this.reads = new ShardedReads(
      shards.map(({ reads }) => reads),
      partitionFor,
    )
    this.decision = async (key) => await shardAt(partitionFor(key)).decision(key)
    this.whenApplied = (position, wait) => shardAt(position.partition).whenApplied(position, wait)
    this.isParked = (position) => shardAt(position.partition).isParked(position)
  }

  get state(): ReadSide['state'] {
    const states = this.#shards.map(({ state }) => state)
    const statuses = new Set(states.map(({ status }) => status))
    const [first] = statuses
    const status = statuses.size === 1 && first !== undefined ? first : statuses.has('up') ? 'degraded' : 'rebuilding'
    return { status, shards: states }
  }

  async close(): Promise<void> {
    await Promise.all(this.#shards.map((shard) => shard.close()))
  }
}
