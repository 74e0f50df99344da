import type { ReadModelStore } from '../../../src/engine/read-models/ports/store.ts'
import type { MemoryData } from '../../../src/engine/testing/memory/memory-data.ts'
import { openMemoryReadModels } from '../../../src/engine/testing/memory/memory-store.ts'
import { names as sampleNames } from './contract/samples.ts'

/** Those of the samples, if nothing else is said. */
export function memoryReadModels(data?: MemoryData, version?: string, names = sampleNames): ReadModelStore {
  return openMemoryReadModels({ data, version, names })
}
