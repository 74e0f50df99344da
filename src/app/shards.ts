import { type Shard, shardsOf } from '../read-models/shards.ts'
import { Tracker } from '../read-models/tracker.ts'
import type { Storage } from './storage.ts'

/** A shard of the read models as one process follows it. There is one shard unless READ_MODEL_SHARDS says more. */
export interface TrackedShard extends Shard {
  readonly tracker: Tracker
}

export function trackShards({ stores, log }: Pick<Storage, 'stores' | 'log'>): readonly TrackedShard[] {
  return shardsOf(stores, log).map((shard) => ({ ...shard, tracker: new Tracker(shard.store.generations) }))
}
