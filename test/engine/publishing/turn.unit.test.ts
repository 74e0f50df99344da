import fc from 'fast-check'
import { expect, it } from 'vitest'
import { StandsStill } from '../../../src/engine/log/published-log.ts'
import { openProjection } from '../projector/projecting.ts'
import { type AnyRecord, altered, bookingEvent, discard, newerEvent, record, seatAdded } from '../projector/records.ts'
import { openPublishedWorld } from './published-world.ts'

/** What is drawn of one record of the journal: it makes sense only where it will stand. */
const anyDraw = fc.record({
  kind: fc.constantFrom('next', 'next', 'next', 'next', 'next', 'rival', 'newer', 'discard', 'discard', 'skipped'),
  stream: fc.constantFrom(1, 1, 1, 2),
  booking: fc.integer({ min: 1, max: 40 }),
})
type Draw = typeof anyDraw extends fc.Arbitrary<infer T> ? T : never

/** Streams that wait behind what no release, or only the newest one, can apply; discards name what the newest one parks. */
async function journalOf(draws: readonly Draw[]): Promise<AnyRecord[]> {
  const { apply, readModel } = await openProjection()
  const journal: AnyRecord[] = []
  const appended = new Map<number, number>()
  const open = new Map<number, number>()
  for (const { kind, stream, booking } of draws) {
    const { parked } = await readModel.load({ stream: String(stream) })
    const version = (appended.get(stream) ?? 0) + 1
    const next = recordOf()
    journal.push(next)
    await apply([next])

    function recordOf(): AnyRecord {
      if (kind === 'skipped' || (kind === 'discard' && parked === undefined)) return record('garbage', '1')
      if (kind === 'discard') return discard(String(stream), parked?.first ?? 0)
      if (kind === 'rival') return bookingEvent('BookingPlaced', stream, booking, Math.max(1, version - 1))
      appended.set(stream, version)
      if (kind === 'newer') return newerEvent(String(stream), version)
      const eventId = `event ${journal.length}`
      if (version === 1) return seatAdded({ id: stream }, { eventId })
      const placed = open.get(stream)
      if (placed === undefined) open.set(stream, booking + 100 * journal.length)
      else open.delete(stream)
      const [type, id] =
        placed === undefined ? (['BookingPlaced', open.get(stream)] as const) : (['BookingCancelled', placed] as const)
      return bookingEvent(type, stream, id ?? 0, version, { eventId })
    }
  }
  return journal
}

const which = fc.constantFrom<'earlier' | 'newest'>('earlier', 'newest')
const anyStep = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('append' as const), count: fc.integer({ min: 1, max: 6 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('apply' as const),
      which,
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant('turn' as const),
      steps: fc.integer({ min: 1, max: 6 }),
      isCommitted: fc.constantFrom(true, true, true, false),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('takeOver' as const, 'switch' as const) }) },
)

it('tells each event that took effect once, in the order of its stream, whatever happens meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyDraw, { maxLength: 50, size: 'max' }),
      fc.array(anyStep, { minLength: 5, maxLength: 60, size: 'max' }),
      fc.array(fc.constantFrom(0, 0, 0, 1, 2, 5), { minLength: 1, maxLength: 30 }),
      async (draws, steps, progress) => {
        let loads = 0
        const all = await journalOf(draws)
        const world = await openPublishedWorld(() => progress[loads++ % progress.length] ?? 0)
        const { journal, releases } = world
        let by: 'earlier' | 'newest' = 'newest'
        for (const step of steps) {
          if (step.does === 'append') journal.push(...all.slice(journal.length, journal.length + step.count))
          else if (step.does === 'apply') await releases[step.which].catchUp(Math.round(step.share * journal.length))
          else if (step.does === 'turn') await world.turn(releases[by], step.steps, step.isCommitted)
          else {
            if (step.does === 'switch') by = by === 'earlier' ? 'newest' : 'earlier'
            world.takeOver()
          }
        }
        journal.push(...all.slice(journal.length))
        if (by === 'earlier') world.takeOver()
        await world.finish(releases.newest, 3)
        expect(world.published()).toEqual(await world.wanted(releases.newest))
      },
    ),
    { numRuns: 1000 },
  )
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
  expect(world.told()).toBe(1)
  journal.push(discard('1', 1))
  await releases.newest.catchUp(journal.length)
  for (let before = 1; await world.turn(releases.newest, 5, true); before = world.told()) {
    expect(world.told() - before).toBeLessThanOrEqual(5)
  }
  expect(world.told()).toBe(21)
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
  expect(world.told()).toBe(2)
  await world.finish(releases.newest, 10)
  expect(world.published()).toEqual(await world.wanted(releases.newest))
  expect(world.told()).toBe(3)
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
    told.push(world.told())
  }
  await world.turn(releases.newest, 100, true)
  expect([...told, world.told()]).toEqual([35, 69, 72])
})
