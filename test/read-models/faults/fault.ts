import type { ReadModels } from '../../../src/read-models/read-models.ts'
import type { ReadModelsFixture } from '../contract/fixture.ts'
import { MemoryData } from '../memory-data.ts'
import { MemoryReadModels } from '../memory-read-models.ts'

/** What a store does otherwise; `data` is all that there is, for faults that no caller of the port could make. */
export type Fault = (store: ReadModels, data: MemoryData, version: string) => Partial<ReadModels>

/** Stores that break the contract in one point each. */
export type Faults = Readonly<Record<string, Fault>>

export function memoryFixture(fault: Fault = () => ({})): ReadModelsFixture {
  const data = new MemoryData()
  return {
    progressIsHeardBy: 'the store that made it',
    open: async (version = 'v1') => {
      const store = new MemoryReadModels(data, version)
      return altered(store, fault(store, data, version))
    },
    empty: async () => data.versions.clear(),
    damage: async (generation, id, index) => {
      data.version('v1').generations.get(generation)?.collection(index).inserts.delete(id)
    },
    remove: async () => {},
  }
}

function altered(store: ReadModels, alterations: Partial<ReadModels>): ReadModels {
  return new Proxy(store, {
    // A promise that resolves to the store asks it for `then`.
    get: (_, name: keyof ReadModels) => alterations[name] ?? store[name]?.bind(store),
  })
}

export function fails(): never {
  throw new Error('not made')
}

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
