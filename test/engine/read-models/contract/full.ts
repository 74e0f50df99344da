import type { Batch } from '../../../../src/engine/read-models/projection-store.ts'
import { added, firstBatch, order, pet, rowOf } from './samples.ts'
import { historyOf } from './values.ts'

/** Puts something into sets of every kind. */
export function fullBatch(): Batch {
  const documents = added(pet(1, ['a', 'b']), pet(2, ['a']), order(5, ['a'], '', '1'))
  const texts = { rows: [rowOf('s', 129)], keys: ['k'], history: [historyOf('s', 0)], parked: ['parked'] }
  return firstBatch({ documents, ...texts, waiting: [['0/parked', '1,2']] })
}

/** Each set that it fills, with one of its entries. */
export const fullSets: ReadonlyMap<string, number | string> = new Map<string, number | string>([
  ...Object.entries({ pets: 1, 'pets:a': 2, 'pets:b': 1, orders: 5, 'orders:a': 5 }),
  ...Object.entries({ rows: 's', keys: '0/k', history: '0/s', parked: 'parked', waiting: '0/parked' }),
])
