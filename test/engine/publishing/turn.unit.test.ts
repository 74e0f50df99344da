import fc from 'fast-check'
import { expect, it } from 'vitest'
import { StandsStill } from '../../../src/engine/log/published-log.ts'
import { type AnyRecord, altered, bookingEvent, discard, newerEvent, seatAdded, several } from '../projector/records.ts'
import { hallEvent } from '../two-kinds.ts'
import { anyStep, drawOf, journalOf } from './any-journal.ts'
import { openPublishedWorld } from './published-world.ts'

it('tells each event that took effect once, in the order of its stream, whatever happens meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(drawOf('1', '1', '1', '2', 'halls/1', 'halls/1'), { maxLength: 50, size: 'max' }),
      fc.array(anyStep, { minLength: 5, maxLength: 60, size: 'max' }),
      fc.array(fc.constantFrom(0, 0, 0, 1, 2, 5), { minLength: 1, maxLength: 30 }),
      async (draws, steps, progress) => {
        let loads = 0
        const all = await journalOf(draws)
        const world = await openPublishedWorld(() => progress[loads++ % progress.length] ?? 0)
        await world.live(all, steps)
        expect(world.published()).toEqual(await world.wanted(world.releases.newest))
      },
    ),
    { numRuns: 1000 },
  )
})

it('tells of streams that an earlier release does not know once the release comes that does, and nothing of them before', async () => {
  const world = await openPublishedWorld()
  const { journal, releases, told } = world
  journal.push(hallEvent('HallBuilt', 1), seatAdded({ id: 1 }), newerEvent('other/1', 1))
  journal.push(hallEvent('HallClosed', 1, { eventId: 'closed', version: 2 }))
  await world.finish(releases.earlier, 3)
  expect(told.map(({ key }) => key)).toEqual(['1'])
  world.takeOver()
  await world.finish(releases.newest, 3)
  expect(told.map(({ key }) => key)).toEqual(['1', 'halls/1', 'halls/1'])
  expect(world.published()).toEqual(await world.wanted(releases.newest))
})

it('stands still where the journal lost its end, and has another record there, or none', async () => {
  for (const instead of [[seatAdded({ id: 2 })], []]) {
    const world = await openPublishedWorld()
    const { journal, releases } = world
    journal.push(seatAdded({ id: 1 }))
    await world.finish(releases.newest, 3)
    journal.splice(0, 1, ...instead)
    await expect(world.turn(releases.newest, 3, true)).rejects.toThrow(StandsStill)
  }
})

/** What waits behind the first parked event of stream 1, which is at offset 1. */
function waitingBehind(count: number): AnyRecord[] {
  return Array.from({ length: count }, (_, i) =>
    bookingEvent(i % 2 ? 'BookingCancelled' : 'BookingPlaced', 1, 100 + Math.floor(i / 2), 3 + i),
  )
}

it('tells what a discard released in several turns, none of which is larger than asked', async () => {
  const world = await openPublishedWorld()
  const { journal, releases } = world
  journal.push(seatAdded({ id: 1 }), newerEvent('1', 2), ...waitingBehind(20))
  await world.finish(releases.newest, 5)
  expect(world.told.length).toBe(1)
  journal.push(discard('1', 1))
  await releases.newest.catchUp(journal.length)
  for (let before = 1; await world.turn(releases.newest, 5, true); before = world.told.length) {
    expect(world.told.length - before).toBeLessThanOrEqual(5)
  }
  expect(world.told.length).toBe(21)
})

it('releases by no discard that it has not come to, though a later load knows of it', async () => {
  const progress: number[] = []
  const world = await openPublishedWorld(() => progress.shift() ?? 0)
  const { journal, releases } = world
  journal.push(seatAdded({ id: 1 }), newerEvent('1', 2), bookingEvent('BookingPlaced', 1, 100, 3))
  await world.finish(releases.newest, 10)
  journal.push(discard('1', 1), newerEvent('1', 4), bookingEvent('BookingCancelled', 1, 100, 5))
  await releases.newest.catchUp(journal.length)
  journal.push(discard('1', 4))
  progress.push(0, 1)
  await world.turn(releases.newest, 10, true)
  expect(progress).toEqual([])
  expect(world.told.length).toBe(2)
  await world.finish(releases.newest, 10)
  expect(world.published()).toEqual(await world.wanted(releases.newest))
  expect(world.told.length).toBe(3)
})

it('goes no further in the journal while what was released fills a turn', async () => {
  const world = await openPublishedWorld()
  const { journal, releases } = world
  const long = waitingBehind(70).map((event) => altered(event, { note: 'x'.repeat(15_000) })) // room for 34 a turn
  journal.push(seatAdded({ id: 1 }), newerEvent('1', 2), ...long)
  await world.finish(releases.newest, 100)
  const told: number[] = []
  for (const added of [discard('1', 1), seatAdded({ id: 2 })]) {
    journal.push(added)
    await releases.newest.catchUp(journal.length)
    await world.turn(releases.newest, 100, true)
    told.push(world.told.length)
  }
  await world.turn(releases.newest, 100, true)
  expect([...told, world.told.length]).toEqual([35, 69, 72])
})

it('tells all events of one record in one turn, however many bytes they come to, and counts each', async () => {
  const world = await openPublishedWorld()
  const { journal, releases } = world
  const note = 'x'.repeat(9000)
  const bookings = waitingBehind(60).map((event) => altered(event, { id: 'b' }))
  const booked = several(bookings, { id: 'record', streamversion: 2, note }) // 540 KB where a turn has room for 512 KiB
  journal.push(seatAdded({ id: 1 }), booked, bookingEvent('BookingPlaced', 1, 900, 3))
  await releases.newest.catchUp(journal.length)
  const told: number[] = []
  while (await world.turn(releases.newest, 100, true)) told.push(world.told.length)
  expect(told).toEqual([1, 61, 62])
  const places = world.told.map(({ key, value }) => [key, JSON.parse(value ?? '').streamindex])
  expect(places).toEqual([['1', undefined], ...bookings.map((_, i) => ['1', i]), ['1', undefined]])
  expect(world.memory.told).toBe(62)
})
