import type { Batch } from '../../../../src/engine/read-models/ports/projection.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import type { MemoryData } from '../../../../src/engine/testing/memory/memory-data.ts'

export type Ports = Omit<ReadModelStore, 'close' | 'warnings'>
export type Fault = (store: ReadModelStore, data: MemoryData) => ReadModelStore

/** A store of which some methods of one port do something else. */
export function breaking<Port extends keyof Ports>(
  port: Port,
  broken: (own: Ports[Port], data: MemoryData, store: Ports) => Partial<Ports[Port]>,
): Fault {
  return (store, data) => ({ ...store, [port]: { ...store[port], ...broken(store[port], data, store) } })
}

/** Applies other batches than it is given. */
export function applying(change: (batch: Batch) => Batch): Fault {
  return breaking('projection', (own) => ({ apply: (name, batch) => own.apply(name, change(batch)) }))
}
