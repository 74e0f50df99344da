import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, expect, it } from 'vitest'
import { Database } from '../../examples/events/database.ts'
import type { Effect } from '../../examples/events/rule.ts'
import { altered, keyed, logOf } from '../engine/projector/records.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { orderEvent, petChanged, petCreated, petRemoved } from '../store/records.ts'

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
  database.setPet({ id: 7, name: 'Rex', categoryId, status: 'sold', description: 'Likes children' })
  expect(database.pet(7)).toEqual({ id: 7, name: 'Rex', categoryId, status: 'sold', description: 'Likes children' })
  database.setPet({ id: 7, name: 'Rex', categoryId, status: 'sold' })
  expect(database.pet(7)).toEqual({ id: 7, name: 'Rex', categoryId, status: 'sold' })
  database.addKey(1, 'key')
  expect([1, 2].map((partition) => database.hasKey(partition, 'key'))).toEqual([true, false])
})

it('takes changes and removals, and counts without effect those that contradict what came before', () => {
  const [one, two, three] = [{ id: 1 }, { id: 2 }, { id: 3 }]
  const life = [
    petCreated(two),
    petCreated(one),
    petChanged({ ...one, name: 'Max' }, { version: 2 }),
    petChanged({ ...one, status: 'sold' }, { version: 3 }), // orders alone change the status
    altered(petChanged(two, { version: 4 }), { subject: '1' }, '1'), // of another pet
    orderEvent('OrderPlaced', 1, 12, 5),
    petRemoved(1, { version: 6 }), // an order is open
    petChanged({ ...one, name: 'Rex', status: 'pending' }, { version: 7 }),
    orderEvent('OrderCancelled', 1, 12, 8),
    altered(petRemoved(2, { version: 9 }), { subject: '1' }, '1'), // of another pet
    petRemoved(1, { version: 10 }),
    petRemoved(1, { version: 11 }), // these are of a removed pet
    petChanged(one, { version: 12 }),
    orderEvent('OrderPlaced', 1, 13, 13),
    petCreated(one, { version: 14 }),
    petRemoved(3), // these are of no pet
    petChanged(three, { version: 2 }),
    petCreated(three, { version: 3 }),
  ]
  const records = logOf(life).map((record) => ({ ...record, partition: 3 }))
  const lines: string[] = []
  const print = ({ type, pet }: Effect, offset: number) => {
    lines.push(`${offset} ${type.split('.')[1]} ${pet.id} ${pet.name} ${pet.isRemoved ? 'removed' : pet.status}`)
  }
  database.take({ partition: 3, records }, () => 3, print)
  expect(lines).toEqual([
    '0 PetCreated 2 pet 2 available',
    '1 PetCreated 1 pet 1 available',
    '2 PetChanged 1 Max available',
    '5 OrderPlaced 1 Max pending',
    '7 PetChanged 1 Rex pending',
    '8 OrderCancelled 1 Rex available',
    '10 PetRemoved 1 Rex removed',
    '17 PetCreated 3 pet 3 available',
  ])
  expect(['1', '2', '3'].map((stream) => database.versionOf(stream))).toEqual([14, 1, 3])
  expect(database.pet(1)).toMatchObject({ name: 'Rex', isRemoved: true })
  expect([database.order(12)?.status, database.openOrder(1)]).toEqual(['cancelled', undefined])
})

it('goes on with a file of an earlier version of it, which knew no removed pets', () => {
  const file = join(temporaryFolder(), 'earlier.db')
  const before = new DatabaseSync(file)
  before.exec(`
    CREATE TABLE positions (partition INTEGER PRIMARY KEY, next INTEGER NOT NULL);
    CREATE TABLE streams (key TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE idempotency_keys (partition INTEGER, key TEXT, PRIMARY KEY (partition, key)) WITHOUT ROWID;
    CREATE TABLE pets (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category_id INTEGER NOT NULL, status TEXT NOT NULL);
    CREATE TABLE orders (
      id INTEGER PRIMARY KEY, pet_id INTEGER NOT NULL, status TEXT NOT NULL, placed_at TEXT NOT NULL, updated_at TEXT NOT NULL);
    INSERT INTO positions VALUES (3, 1);
    INSERT INTO streams VALUES ('1', 1);
    INSERT INTO pets VALUES (1, 'Rex', 7, 'available');
  `)
  before.close()
  database = new Database(file)
  const records = logOf([petRemoved(1, { version: 2 })], 1).map((record) => ({ ...record, partition: 3 }))
  database.take(
    { partition: 3, records },
    () => 3,
    (effect) => void effects.push(effect),
  )
  expect(database.pet(1)).toEqual({ id: 1, name: 'Rex', categoryId: 7n, status: 'available', isRemoved: true })
  expect([effects.length, database.next(3)]).toEqual([1, 2])
  database.sql.close()
})
