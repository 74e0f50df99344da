import { beforeEach, expect, it } from 'vitest'
import { Database } from '../../examples/events/database.ts'
import type { Effect } from '../../examples/events/rule.ts'
import { keyed, logOf } from '../engine/projector/records.ts'
import { orderEvent, petCreated } from '../store/records.ts'

const log = logOf([petCreated({ id: 1 }, keyed('one')), petCreated({ id: 2 }), orderEvent('OrderPlaced', 1, 12, 2)])
let database: Database
let effects: Effect[]
beforeEach(() => {
  database = new Database(':memory:')
  effects = []
})

function take(from: number, to: number, handle = (effect: Effect): void => void effects.push(effect)): void {
  const records = log.slice(from, to).map((record) => ({ ...record, partition: 3 }))
  database.take({ partition: 3, records }, () => 3, handle)
}
const changes = () => effects.map(({ type, pet }) => `${type.split('.')[1]} ${pet.id} ${pet.status}`)

it('takes each record once, when another process has taken some of a batch', () => {
  take(0, 2)
  take(1, 3)
  expect(changes()).toEqual(['PetCreated 1 available', 'PetCreated 2 available', 'OrderPlaced 1 pending'])
  take(0, 3)
  expect([effects.length, database.next(3), database.next(0)]).toEqual([3, 3, 0])
})

it('remembers nothing of a batch that fails', () => {
  take(0, 1)
  const failing = ({ pet }: Effect) => {
    if (pet.id === 1) throw new Error('no room')
  }
  expect(() => take(1, 3, failing)).toThrow('no room')
  expect([database.next(3), database.versionOf('2'), database.pet(2), database.order(12)]).toEqual([
    1,
    0,
    undefined,
    undefined,
  ])
  take(1, 3)
  expect(changes()).toEqual(['PetCreated 1 available', 'PetCreated 2 available', 'OrderPlaced 1 pending'])
  expect(database.order(12)).toMatchObject({ petId: 1, status: 'placed' })
})

it('keeps every digit of a category id, and one idempotency key for each partition', () => {
  const categoryId = -9223372036854775808n
  database.setPet({ id: 7, name: 'Rex', categoryId, status: 'sold' })
  expect(database.pet(7)).toEqual({ id: 7, name: 'Rex', categoryId, status: 'sold' })
  database.addKey(1, 'key')
  expect([1, 2].map((partition) => database.hasKey(partition, 'key'))).toEqual([true, false])
})
