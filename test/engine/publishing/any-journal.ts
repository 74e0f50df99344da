import fc from 'fast-check'
import { openProjection } from '../projector/projecting.ts'
import {
  type AnyRecord,
  bookingEvent,
  discard,
  newerEvent,
  record,
  seatAdded,
  seatRemoved,
  several,
} from '../projector/records.ts'
import { hallEvent, twoKinds } from '../two-kinds.ts'

const kinds = [
  'next',
  'next',
  'next',
  'next',
  'next',
  'several',
  'several',
  'removed',
  'rival',
  'newer',
  'discard',
  'discard',
  'skipped',
]

/** What is drawn of one record of the journal: it makes sense only where it will stand. */
export interface Draw {
  readonly kind: string
  readonly stream: string
  readonly booking: number
}

/** A record of one of these streams, seats and halls, each as often as it is named. */
export function drawOf(...streams: readonly string[]): fc.Arbitrary<Draw> {
  return fc.record({
    kind: fc.constantFrom(...kinds),
    stream: fc.constantFrom(...streams),
    booking: fc.integer({ min: 1, max: 40 }),
  })
}

/** Streams that wait behind what no release, or only the newest one, can apply; discards name what the newest one parks. */
export async function journalOf(draws: readonly Draw[]): Promise<AnyRecord[]> {
  const { apply, readModel } = await openProjection(undefined, twoKinds)
  const journal: AnyRecord[] = []
  const appended = new Map<string, number>()
  const open = new Map<number, number>()
  for (const { kind, stream: name, booking } of draws) {
    const { parked } = await readModel.load({ stream: name })
    const version = (appended.get(name) ?? 0) + 1
    const [isHall, stream] = [name.startsWith('halls/'), Number(name.replace('halls/', ''))]
    const next = recordOf()
    journal.push(next)
    await apply([next])

    function recordOf(): AnyRecord {
      if (kind === 'skipped' || (kind === 'discard' && parked === undefined)) return record('garbage', '1')
      if (kind === 'discard') return discard(name, parked?.first ?? 0)
      if (kind === 'rival' && isHall) return hallEvent('HallClosed', stream, { version: Math.max(1, version - 1) })
      if (kind === 'rival') return bookingEvent('BookingPlaced', stream, booking, Math.max(1, version - 1))
      appended.set(name, version)
      if (kind === 'newer') return newerEvent(name, version)
      const eventId = `event ${journal.length}`
      if (isHall) return hallEvent(version === 1 ? 'HallBuilt' : 'HallClosed', stream, { eventId, version })
      if (version === 1) return seatAdded({ id: stream }, { eventId })
      const placed = open.get(stream)
      if (kind === 'several') {
        const next = [booking + 100 * journal.length, booking + 100 * journal.length + 50]
        const before =
          placed === undefined ? [] : [bookingEvent('BookingCancelled', stream, placed, version, { eventId })]
        const events = next.flatMap((id) => [
          bookingEvent('BookingPlaced', stream, id, version, { eventId }),
          bookingEvent('BookingCancelled', stream, id, version, { eventId }),
        ])
        open.delete(stream)
        return several([...before, ...events])
      }
      if (kind === 'removed' && placed === undefined) return seatRemoved(stream, { eventId, version })
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
export const anyStep = fc.oneof(
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
  { weight: 2, arbitrary: fc.record({ does: fc.constantFrom('takeOver' as const, 'switch' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('lose' as const) }) },
)
export type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never
