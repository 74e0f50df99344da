import { readCloudEvent } from '../../../src/engine/log/record-codec.ts'
import type { Consumer, Words } from '../projector/any-log.ts'
import { type AnyRecord, bookingEvent, discard, newerEvent, seatAdded, seatRemoved } from '../projector/records.ts'
import { bookingStatuses, type SeatState } from './seats.ts'
import { theatre } from './theatre.ts'

const types = ['BookingPlaced', 'BookingApproved', 'BookingDelivered', 'BookingCancelled'] as const

export const seats: Words = {
  added: (seat, context) => seatAdded(seat, context),
  changed: (type, seat, booking, context) =>
    bookingEvent(types[type] ?? 'BookingPlaced', seat, booking, context.version, context),
  removed: (seat, context) => seatRemoved(seat, context),
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
    const state = decoded.outcome === 'event' ? evolved(before, decoded.event, version, String(event.time)) : undefined
    const booking = state?.booking
    if (booking !== undefined && booking.id !== before?.booking?.id) {
      if (this.#bookings.has(booking.id)) return
      this.#bookings.add(booking.id)
    }
    this.#keys.add(idempotencykey)
    this.#streams.set(stream, { version, state: state ?? before })
    if (state === undefined) this.unread.push({ stream, offset })
  }
}

function evolved(
  ...[state, event, version, time]: [
    SeatState | undefined,
    Parameters<typeof theatre.stream.evolve>[1]['event'],
    number,
    string,
  ]
) {
  try {
    return theatre.stream.evolve(state, { event, version, time })
  } catch {
    return undefined
  }
}
