import { noReadModels } from '../lib/errors/errors.ts'
import type { ReadModelStore } from '../read-models/ports/store.ts'
import type { Stores } from '../read-models/shards.ts'

/** Looks into the active generation of each shard. Throws Error `noReadModels` where there is none. */
export function inActive<T>(
  stores: Stores,
  look: (store: ReadModelStore, generation: string) => Promise<T | undefined>,
): Promise<T[]> {
  return Promise.all(
    stores.map(async (store) => {
      const active = await store.generations.active()
      const found = active && (await look(store, active.name))
      if (found === undefined) throw new Error(noReadModels)
      return found
    }),
  )
}
