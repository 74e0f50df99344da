import { expect, it } from 'vitest'
import { KnownStreams } from '../../../src/engine/publishing/known-streams.ts'
import { StreamStates } from '../../../src/engine/publishing/stream-states.ts'
import { entriesOf, eventsOf } from '../../../src/engine/publishing/told-events.ts'
import { bookingEvent, seatAdded, several } from '../projector/records.ts'
import { openPublishedWorld } from './published-world.ts'

const versions = [1, 2, 3, 4, 5]

/** What the states are after each event of these versions, asked for in this order. */
async function statesAfter(...asked: readonly number[]): Promise<(readonly unknown[])[]> {
  const { journal, releases } = await openPublishedWorld()
  const { newest } = releases
  journal.push(
    seatAdded({ id: 1 }),
    bookingEvent('BookingPlaced', 1, 8, 2),
    several([bookingEvent('BookingCancelled', 1, 8, 3), bookingEvent('BookingPlaced', 1, 12, 3)]),
    bookingEvent('BookingCancelled', 1, 12, 4),
    several([bookingEvent('BookingPlaced', 1, 16, 5), bookingEvent('BookingCancelled', 1, 16, 5)]),
  )
  await newest.catchUp(journal.length)
  const states = new StreamStates(newest)
  const streams = new KnownStreams(newest.readModel, 0, 0)
  const events = [...(await eventsOf(newest, '1', await entriesOf(streams, '1', 1, 5))).values()]
  const found: (readonly unknown[])[] = []
  for (const version of asked) {
    const event = events[version - 1]
    if (event !== undefined) found.push(await states.after(event, version, streams))
  }
  return found
}

it('the states after the events of a record are the same from whichever one was asked for before', async () => {
  const alone = await Promise.all(versions.map(async (version) => (await statesAfter(version))[0]))
  expect(alone.map((states) => states?.length)).toEqual([1, 1, 2, 1, 2])
  expect(new Set(alone.flat().map((state) => JSON.stringify(state))).size).toBe(7)
  for (const first of versions) {
    for (const next of versions) expect(await statesAfter(first, next)).toEqual([alone[first - 1], alone[next - 1]])
  }
})
