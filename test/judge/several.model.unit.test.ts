import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { MemoryEventLog, MemoryLogData } from '../../src/engine/testing/memory/memory-event-log.ts'
import { documentsOf, everything } from '../engine/projector/projecting.ts'
import { seats as words } from '../engine/theatre/seat-words.ts'
import { type Asked, SeatsWorld, seats, seatsScript } from './model/seats-world.ts'
import { inVirtualTime } from './model/virtual-time.ts'

// Timers in virtual time, those of promises too.
vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number, value: unknown) => new Promise((resolve) => setTimeout(() => resolve(value), ms)),
  setImmediate: () => new Promise((resolve) => setImmediate(resolve)),
}))

interface Told {
  readonly type: string
  readonly traceparent?: string
  readonly streamversion: number
  readonly streamindex?: number
  readonly data: { readonly bookingId?: number }
}

const nameOf = ({ type }: Told) => type.split('.')[1]
/** What a command may come to. */
const whole = [
  ['SeatAdded'],
  ['BookingPlaced'],
  ['BookingCancelled', 'BookingPlaced'],
  ['SeatRemoved'],
  ['BookingPlaced', 'BookingCancelled'], // of another program
  ['BookingCancelled', 'SeatRemoved'],
]

/** Each version is all of what one command came to, in its order, and no request has two. */
function checkHistory(history: readonly Told[]): readonly (readonly Told[])[] {
  const records = [...Map.groupBy(history, ({ streamversion }) => streamversion).values()]
  expect(records.flat()).toEqual(history)
  for (const [i, events] of records.entries()) {
    expect(events[0]?.streamversion).toBeGreaterThan(records[i - 1]?.[0]?.streamversion ?? 0) // some are discarded
    expect(whole).toContainEqual(events.map(nameOf))
    expect(events.map(({ streamindex }) => streamindex)).toEqual(events.length === 1 ? [undefined] : [0, 1])
    expect(new Set(events.map(({ traceparent }) => traceparent)).size).toBe(1)
  }
  const writers = records.flatMap(([first]) => first?.traceparent ?? [])
  expect(new Set(writers).size).toBe(writers.length)
  return records
}

/** What was confirmed took effect once, for all who asked under the key, and what was refused did not. */
function checkAnswers(asked: readonly Asked[], histories: ReadonlyMap<number, readonly (readonly Told[])[]>): void {
  for (const { traceparent, seat, key, isBooking, status, body } of asked) {
    const records = histories.get(seat) ?? []
    const own = records.filter(([first]) => first?.traceparent === traceparent)
    const placing = records.filter((events) => events.at(-1)?.data.bookingId === body?.id)
    if (status === 201 && isBooking)
      expect(placing.filter((events) => events.map(nameOf).includes('BookingPlaced'))).toHaveLength(1)
    if (status === 201 && key === undefined)
      expect(own).toEqual(placing.filter((events) => nameOf(events.at(-1) as Told) === 'BookingPlaced'))
    if (status === 204) expect(records.at(-1)?.map(nameOf)).toContain('SeatRemoved')
    if (status !== undefined && status >= 400 && status < 500) expect(own).toEqual([])
    if (status === 500) expect(body?.code).toBe('event_parked')
  }
  const keyed = asked.filter(({ key, status }) => key !== undefined && status === 201)
  for (const same of Map.groupBy(keyed, ({ key, seat }) => `${key} ${seat}`).values())
    expect(new Set(same.map(({ body }) => body?.id)).size).toBe(1)
}

/** The read models show what a consumer does who takes each record whole or not at all. */
async function checkShown(world: SeatsWorld): Promise<void> {
  const found = await everything(world.store)
  const [shown, bookings] = [documentsOf(found, 'seats'), Object.values(documentsOf(found, 'bookings'))]
  for (const records of await world.records()) {
    const consumer = words.newConsumer()
    for (const record of records) consumer.read(record)
    for (const seat of seats.filter((each) => consumer.versionOf(String(each)) > 0)) {
      const open = bookings.filter(({ seatId, status }) => seatId === seat && status === 'placed')
      const { status } = shown[seat] ?? {}
      expect([seat, status && status === 'available', open.map(({ id }) => id)]).toEqual([
        seat,
        consumer.isFree(seat),
        [consumer.changeOf(seat) ?? []].flat(),
      ])
    }
  }
}

it('whatever fails, a command of two events has both or neither, once, in the answers, in histories and in what is shown', async () => {
  let taken = 0
  const holds = async ({ steps, latenciesMs }: typeof seatsScript extends fc.Arbitrary<infer T> ? T : never) => {
    const world = new SeatsWorld(new MemoryEventLog(new MemoryLogData(3)), latenciesMs)
    await world.play(steps)
    const histories = new Map<number, readonly (readonly Told[])[]>()
    for (const seat of seats) histories.set(seat, checkHistory((await world.history(seat)) as unknown as Told[]))
    checkAnswers(world.asked, histories)
    await checkShown(world)
    expect(world.bugs).toEqual([])
    taken += [...histories.values()].flat().filter((events) => events.length === 2).length
    await world.close()
  }
  await fc.assert(
    fc.asyncProperty(seatsScript, (script) => inVirtualTime(() => holds(script))),
    { numRuns: 200 },
  )
  expect(taken).toBeGreaterThan(200) // or it was tried too seldom
}, 300_000)
