import type { Batch } from '../../../src/read-models/projection-store.ts'
import { added, firstBatch, order, pet, rowOf } from './samples.ts'

/** Puts something into sets of every kind. */
export function fullBatch(): Batch {
  const documents = added(pet(1, ['a', 'b']), pet(2, ['a']), order(5, ['a']))
  return firstBatch({ documents, rows: [rowOf('s')], keys: ['k'], parked: ['parked'] })
}

/** Each set that it fills, with one of its entries. */
export const fullSets: ReadonlyMap<string, number | string> = new Map<string, number | string>([
  ...Object.entries({ pets: 1, 'pets:a': 2, 'pets:b': 1, orders: 5, 'orders:a': 5 }),
  ...Object.entries({ rows: 's', keys: '0/k', parked: '0/0' }),
])
