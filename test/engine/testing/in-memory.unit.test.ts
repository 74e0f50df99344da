import { readdirSync } from 'node:fs'
import { afterEach, expect, it, vi } from 'vitest'
import { defineService, type Service } from '../../../src/engine/index.ts'
import { openInMemory } from '../../../src/engine/testing/index.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'
import { theatre } from '../theatre/theatre.ts'
import { twoKinds } from '../two-kinds.ts'
import { atWork, expectNoMoreAtWork } from './at-work.ts'

afterEach(() => void vi.unstubAllEnvs())

const newSeat = { name: 'A1', rowId: 9007199254740993n }
const seat = { id: 1, ...newSeat, status: 'available' }

it('runs each operation, and finds what came of it, with all digits', async () => {
  await using house = await openInMemory(theatre)
  expect(await house.run('addSeat', { body: newSeat })).toMatchObject({ status: 201, body: seat })
  expect(await house.run('placeBooking', { body: { seatId: 1 } })).toMatchObject({ status: 201, body: { id: 2 } })
  expect(await house.find('seats', 1)).toEqual({ ...seat, status: 'pending' })
  expect(await house.find('bookings', 2)).toMatchObject({ id: 2, seatId: 1, status: 'placed' })
  const approve = { id: 2, body: { status: 'approved' } }
  expect(await house.run('updateBooking', approve)).toMatchObject({ status: 200, body: { status: 'approved' } })
  const bookings = await house.run('listBookings', { query: { status: 'approved' } })
  expect(bookings.body).toMatchObject([{ id: 2 }])
  const { body: history } = await house.run('listSeatEvents', { id: 1 })
  expect(history).toMatchObject([{ type: 'theatre.SeatAdded.v1' }, { data: { bookingId: 2 } }, { streamversion: 3 }])
  const refused = { status: 422, body: { code: 'unknown_seat', message: 'There is no seat 3.' } }
  expect(await house.run('placeBooking', { body: { seatId: 3 } })).toMatchObject(refused)
})

it('runs each kind of stream', async () => {
  await using house = await openInMemory(twoKinds)
  await house.run('addSeat', { body: newSeat })
  expect(await house.run('buildHall', { body: { name: 'Large' } })).toMatchObject({ status: 201, body: { id: 2 } })
  expect([await house.find('seats', 1), await house.find('halls', 2)]).toEqual([seat, { id: 2, name: 'Large' }])
  expect((await house.run('closeHall', { id: 2 })).status).toBe(204)
  expect([await house.find('seats', 1), await house.find('halls', 2)]).toEqual([seat, undefined])
})

it('finds nothing of what was never there, and of what is removed', async () => {
  await using house = await openInMemory(theatre)
  await house.run('addSeat', { body: newSeat })
  expect([await house.find('seats', 2), await house.find('seats', 9223372036854775807n)]).toEqual([
    undefined,
    undefined,
  ])
  expect(await house.run('removeSeat', { id: 1 })).toMatchObject({ status: 204, body: undefined })
  expect(await house.find('seats', 1)).toBeUndefined()
})

it('sends headers, and has those of the answer', async () => {
  await using house = await openInMemory(theatre)
  const once = { body: newSeat, headers: { 'idempotency-key': '"k"' } }
  const [first, again] = [await house.run('addSeat', once), await house.run('addSeat', once)]
  expect(again).toMatchObject({ body: first.body, headers: { 'idempotency-replayed': 'true' } })
  const stale = await house.run('removeSeat', { id: 1, headers: { 'if-match': '"other"' } })
  expect(stale.status).toBe(412)
})

it('reads at once, nothing of another one, and all that was done before, also where nobody waited for it', async () => {
  await using one = await openInMemory(theatre)
  await using other = await openInMemory(theatre)
  expect(await one.run('listSeats')).toMatchObject({ status: 200, body: [] })
  for (let id = 1; id <= 20; id++) {
    await one.run('addSeat', { body: newSeat, headers: { prefer: 'wait=0' } })
    expect(await one.find('seats', id)).toMatchObject({ id })
  }
  expect((await other.run('listSeats')).body).toEqual([])
})

it('says what it does not know', async () => {
  await using house = await openInMemory(theatre)
  const operations =
    'listSeats, getSeat, listSeatEvents, listBookings, getBooking, addSeat, removeSeat, placeBooking, updateBooking'
  await expect(house.run('paintSeat')).rejects.toThrow(`there is no operation paintSeat: there is ${operations}`)
  await expect(house.run('followEvents')).rejects.toThrow('followEvents has no end: follow it with startForTest')
  await expect(house.find('rows', 1)).rejects.toThrow('there is no collection rows: there is seats, bookings')
  await expect(house.run('getSeat')).rejects.toThrow('getSeat needs an id')
  await expect(house.run('listSeats', { id: 1 })).rejects.toThrow('listSeats has no id')
})

it('refuses a service that is wrongly defined, and names the place', async () => {
  const wrong: Service = { ...theatre.service, name: 'Theatre' }
  await expect(openInMemory({ service: wrong })).rejects.toThrow('name: Theatre must be lower case letters and digits')
  const program = defineService({ ...theatre.service, streams: [] })
  await expect(openInMemory(program)).rejects.toThrow('streams: there is none')
})

it('opens no file, and leaves nothing at work', async () => {
  const folder = temporaryFolder()
  vi.stubEnv('TMPDIR', folder)
  const before = atWork()
  const house = await openInMemory(theatre)
  await house.run('addSeat', { body: newSeat })
  await house[Symbol.asyncDispose]()
  expect(readdirSync(folder)).toEqual([])
  await expect(house.find('seats', 1)).rejects.toThrow('already been closed')
  await expectNoMoreAtWork(before)
})
