import type { ReadModelStore } from '../../read-models/ports/store.ts'
import type { StreamNames } from '../../read-models/stream-names.ts'
import { MemoryData } from './memory-data.ts'
import { generationsOf } from './memory-generations.ts'
import { inspectionOf } from './memory-inspection.ts'
import { projectionOf } from './memory-projection.ts'
import { readsOf } from './memory-reads.ts'
import { MemoryStore } from './opened-store.ts'

export interface MemoryReadModelsOptions {
  readonly names: StreamNames
  readonly version?: string | undefined
  /** Several stores may share it. */
  readonly data?: MemoryData | undefined
}

/** The port, implemented as simply as can be: what the adapters are compared with. */
export function openMemoryReadModels({
  names,
  version = 'v1',
  data = new MemoryData(),
}: MemoryReadModelsOptions): ReadModelStore {
  const store = new MemoryStore(data, version, names)
  return {
    reads: readsOf(store),
    projection: projectionOf(store),
    generations: generationsOf(store),
    inspection: inspectionOf(store),
    warnings: [],
    async close() {
      store.isClosed = true
      store.listeners.disconnected()
    },
  }
}
