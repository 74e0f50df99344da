import { readCloudEvent } from '../../../src/engine/log/record-codec.ts'
import type { Consumer, Words } from '../projector/any-log.ts'
import {
  type AnyRecord,
  bookingEvent,
  discard,
  newerEvent,
  seatAdded,
  seatRemoved,
  several,
} from '../projector/records.ts'
import { bookingStatuses, type SeatEvent, type SeatState } from './seats.ts'
import { theatre } from './theatre.ts'

const types = ['BookingPlaced', 'BookingApproved', 'BookingDelivered', 'BookingCancelled'] as const

export const seats: Words = {
  added: (seat, context) => seatAdded(seat, context),
  changed: (type, seat, booking, context) =>
    bookingEvent(types[type] ?? 'BookingPlaced', seat, booking, context.version, context),
  removed: (seat, context) => seatRemoved(seat, context),
  several,
  newer: newerEvent,
  discard,
  newConsumer: () => new SeatConsumer(),
}

/** The next event of each stream takes effect if it can; what was parked is passed over. */
class SeatConsumer implements Consumer {
  readonly unread: { readonly stream: string; readonly offset: number }[] = []
  readonly #streams = new Map<string, { readonly version: number; readonly state: SeatState | undefined }>()
  readonly #keys = new Set<unknown>()
  readonly #bookings = new Set<number>()
  #offset = 0

  versionOf(stream: string): number {
    return this.#streams.get(stream)?.version ?? 0
  }

  isFree(id: number): boolean | undefined {
    const state = this.#streams.get(String(id))?.state
    return state && !state.isRemoved ? state.seat.status === 'available' : undefined
  }

  changeOf(id: number): number | undefined {
    const booking = this.#streams.get(String(id))?.state?.booking
    return booking && bookingStatuses.indexOf(booking.status) < 2 ? booking.id : undefined
  }

  read({ key, value }: AnyRecord): void {
    const offset = this.#offset++
    const stream = String(key)
    const event = readCloudEvent(value, theatre.events.quick)
    if (event === undefined || event.subject !== stream) return
    const { idempotencykey } = event
    const version = theatre.events.streamVersion(event)
    if (version !== this.versionOf(stream) + 1 || (idempotencykey !== undefined && this.#keys.has(idempotencykey)))
      return
    const decoded = theatre.events.decode(event)
    const before = this.#streams.get(stream)?.state
    const states = decoded.outcome === 'events' ? evolved(before, decoded.events, version, String(event.time)) : []
    const bookings = states.flatMap(({ booking }, i) => {
      const earlier = i === 0 ? before : states[i - 1]
      return booking === undefined || booking.id === earlier?.booking?.id ? [] : booking.id
    })
    if (bookings.some((id, i) => this.#bookings.has(id) || bookings.indexOf(id) < i)) return
    for (const id of bookings) this.#bookings.add(id)
    this.#keys.add(idempotencykey)
    this.#streams.set(stream, { version, state: states.at(-1) ?? before })
    if (states.length === 0) this.unread.push({ stream, offset })
  }
}

/** The state after each event; none if one of them cannot follow. */
function evolved(before: SeatState | undefined, events: readonly SeatEvent[], version: number, time: string) {
  const states: SeatState[] = []
  try {
    for (const event of events) {
      const state = theatre.stream.evolve(states.at(-1) ?? before, { event, version, time })
      if (state !== undefined) states.push(state)
    }
    return states
  } catch {
    return []
  }
}
