import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Applier } from '../../../src/engine/projector/applier.ts'
import { textSets } from '../../../src/engine/read-models/document.ts'
import type { ProjectionStore } from '../../../src/engine/read-models/ports/projection.ts'
import { startOfPartition } from '../../../src/engine/read-models/stored-texts.ts'
import { everything, logger, openProjection, outcomesOf, project, summary } from '../projector/projecting.ts'
import { altered, bookingEvent, logOf, newerEvent, seatAdded } from '../projector/records.ts'
import { someSeats } from '../projector/world.ts'
import { theatre } from '../theatre/theatre.ts'

const long = 'é'.repeat(7000) // 14,000 bytes

it('what one event can store is bounded, whatever its attributes are', async () => {
  const attributes = { idempotencykey: long, requestfingerprint: long, time: long, traceparent: long, id: long }
  const records = [
    seatAdded({ id: 1 }),
    ...Object.entries(attributes).map(([name, value], i) => newerEvent(`2${i}`, 1, { [name]: value })),
    altered(bookingEvent('BookingPlaced', 1, 12, 2), {
      idempotencykey: `${long.slice(0, 4000)}`,
      requestfingerprint: long.slice(0, 3000),
    }),
    newerEvent('3', 1, { type: `theatre.${long}` }),
    altered(seatAdded({ id: 4 }), { data: { id: 4, [long]: 1, name: 'x', rowId: 1 } }),
    newerEvent('5', 1, { source: long }),
  ]
  const found = await (await project(records)).read()
  for (const set of textSets) {
    const items =
      set === 'keys' ? found.keys.map((record): [string, string] => [record.key, JSON.stringify(record)]) : found[set]
    for (const [id, text] of items) expect(Buffer.byteLength(`${id}${text}`), `${set} ${id}`).toBeLessThan(1000)
  }
  expect(found.keys.map(({ key, fingerprint }) => [key.length, fingerprint.length])).toEqual([
    [43, 0],
    [43, 43],
  ])
})

it('idempotency keys that are too long are one where they are the same, and two where only their ends differ', async () => {
  const create = (id: number, idempotencykey: string) => altered(seatAdded({ id }), { idempotencykey })
  const log = [create(1, `${long}a`), create(2, `${long}b`), create(3, `${long}a`)]
  expect(await outcomesOf(log)).toEqual(['applied', 'applied', 'duplicate'])
})

it('a time of more than 40 characters is none', async () => {
  const time = (length: number) => `2026-11-20T09:30:00.${'0'.repeat(length - 21)}Z`
  const placed = (seat: number, length: number) =>
    altered(bookingEvent('BookingPlaced', seat, seat + 10, 2), { time: time(length) })
  const log = [seatAdded({ id: 1 }), seatAdded({ id: 2 }), placed(1, 40), placed(2, 41)]
  const { bookings, parked } = summary(await (await project(log)).read())
  expect([bookings, parked]).toEqual([{ 11: 'placed' }, { 3: 'not a time: ""' }])
})

it('a reason ends after 200 characters, and with a whole one', async () => {
  const type = `theatre.${'x'.repeat(185)}🐕`
  const { store } = await project([
    newerEvent('1', 1, { type }),
    newerEvent('2', 1, { type: `theatre.x${type.slice(8)}` }),
  ])
  const reasons = Object.values(summary(await everything(store)).parked)
  expect(reasons).toEqual([`type ${type}`, `type theatre.x${'x'.repeat(185)}`])
})

it('a record key of 128 bytes names a stream, and one of 129 is skipped', async () => {
  const [most, more] = ['é'.repeat(64), `${'é'.repeat(64)}x`]
  expect(await outcomesOf([newerEvent(most, 1), newerEvent(more, 1)])).toEqual(['parked', 'skipped'])
})

it('between two applies of a batch everything else has a turn of the event loop', async () => {
  const { store, log } = await openProjection()
  const seen: number[] = []
  let turn = 0
  const { load, apply } = store.projection
  const projection: ProjectionStore = {
    load,
    apply: (...batch) => {
      seen.push(turn)
      return apply(...batch)
    },
  }
  const applier = new Applier({ store: projection, definition: theatre, log, logger })
  const records = logOf(someSeats(1, 1500))
  let isDone = false
  const counting = (async () => {
    for (; !isDone; turn++) await nextTurn()
  })()
  const batch = { partition: 0, from: 0, records, next: records.length }
  expect((await applier.apply('generation', startOfPartition, batch))?.next).toBe(1500)
  isDone = true
  await counting
  expect(seen).toHaveLength(3)
  expect(new Set(seen).size).toBe(3)
})
