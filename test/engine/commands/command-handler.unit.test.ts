import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { UnknownOutcome } from '../../../src/engine/commands/command-handler.ts'
import { eventIdOf } from '../../../src/engine/commands/idempotency.ts'
import { seatDocument } from '../theatre/seats.ts'
import {
  a12,
  applied,
  bookingApproved,
  bookingCancelled,
  bookingPlaced,
  failure,
  keyOfBooking,
  keyOfSeat,
  nextOffset,
  nothing,
  open,
  parkedAt,
  record,
  rejection,
  seatAdded,
  seatId,
  stream,
} from './scene.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const bookingData = (bookingId: number) => ({ bookingId, seatId })
const position = { partition: 0, offset: nextOffset }
const available = stream([seatAdded])
const booked = stream([seatAdded, bookingPlaced(3)], { offsets: [0, nextOffset] })
/** A rival booked the seat just before. */
const lost = stream([seatAdded, bookingPlaced(12)], { offsets: [0, nextOffset - 1] })

describe('a command', () => {
  it('decides on the loaded state, appends the next version and answers from the state loaded then', async () => {
    const { book, loads, appended, waits } = open({ loads: [available, booked] })
    const isAbandoned = () => false
    const handled = await book({ wait: { timeoutMs: 0, isAbandoned } })
    expect(handled).toMatchObject({ outcome: 'applied', version: 2, position, isReadable: true })
    expect(applied(handled).state).toMatchObject({ seat: { status: 'pending' }, booking: { id: 3 } })
    const event = { type: 'theatre.BookingPlaced.v1', streamversion: 2, data: bookingData(3) }
    expect(appended).toMatchObject([{ partition: 0, record: { key: '9' }, event }])
    const wait = { timeoutMs: 5000, isAbandoned }
    expect(waits).toEqual([{ ...wait, isRecorded: true }])
    expect(loads).toEqual([
      { query: { stream: '9', document: undefined, key: undefined }, atLeast: undefined },
      {
        query: { stream: '9', document: undefined, key: undefined, versions: { first: 1, last: 2 } },
        atLeast: { positions: [position], wait },
      },
    ])
  })

  it('is answered with the state right after its own event, whatever came since', async () => {
    const since = stream([seatAdded, bookingPlaced(3), bookingApproved(3)], {
      offsets: [0, nextOffset, nextOffset + 1],
    })
    const handled = await open({ loads: [available, since] }).book()
    expect(applied(handled)).toMatchObject({ version: 2, state: { booking: { status: 'placed' } } })
  })

  it('is answered from what is loaded then where that is not what it was decided on, as the log lost its end', async () => {
    const document = seatDocument({ id: seatId, ...a12, name: 'Mia', status: 'pending' })
    const other = booked.row && { ...booked.row, document }
    const handled = await open({ loads: [available, { ...booked, row: other }] }).book()
    expect(applied(handled).state?.seat.name).toBe('Mia')
  })

  it('that is refused ends with the error of the decider, and appends nothing', async () => {
    const { book, appended } = open({ loads: [lost] })
    const message = expect.stringContaining('booking 12')
    await expect(book()).rejects.toMatchObject({ code: 'seat_not_available', message })
    expect(appended).toEqual([])
  })

  it('with nothing to do appends nothing', async () => {
    const { update, appended } = open({ loads: [lost] })
    expect(await update(12, 'placed')).toMatchObject({
      outcome: 'unchanged',
      document: expect.stringMatching('"id":12'),
    })
    expect(appended).toEqual([])
  })

  it('about a stream with parked events is refused, and appends nothing', async () => {
    const { book, appended } = open({ loads: [{ ...available, ...parkedAt(1) }] })
    await expect(book()).rejects.toMatchObject({ code: 'stream_parked' })
    expect(appended).toEqual([])
  })

  it('that cannot load ends with the error of that, and appends nothing', async () => {
    for (const error of [failure('read_model_unavailable'), failure('read_model_behind'), new TypeError('bug')]) {
      const { book, appended } = open({ loads: [error] })
      await expect(book()).rejects.toBe(error)
      expect(appended).toEqual([])
    }
  })

  it('waits until its state includes the required positions, within its own time limit', async () => {
    const positions = [{ partition: 1, offset: 4 }]
    for (const timeoutMs of [300, 9000]) {
      const { book, loads } = open({ loads: [available, booked] })
      await book({ atLeast: { positions, wait: { timeoutMs } } })
      expect(loads[0]?.atLeast).toEqual({ positions, wait: { timeoutMs: Math.min(timeoutMs, 5000) } })
    }
  })
})

describe('a command whose event was appended', () => {
  it('and is parked ends with an error that says so', async () => {
    const loads = [available, { ...available, ...parkedAt(nextOffset) }]
    await expect(open({ loads }).book()).rejects.toMatchObject({ code: 'event_parked' })
  })

  const away = failure('read_model_unavailable')
  it.each<[string, Parameters<typeof open>[0], unknown]>([
    ['the append does not say', { appends: [failure('append_outcome_unknown')] }, expect.anything()],
    ['it is not heard of in time', { heard: ['late'] }, undefined],
    ['its stream cannot be loaded then', { loads: [available, away] }, away],
  ])('has an unknown outcome, with the id that was drawn, when %s', async (_, script, cause) => {
    const error = await rejection(open({ loads: [available], ...script }).book())
    expect(error).toBeInstanceOf(UnknownOutcome)
    expect(error).toMatchObject({ code: 'append_outcome_unknown', id: 3, cause })
  })

  it('does not take a bug for an unknown outcome', async () => {
    const bug = new TypeError('bug')
    await expect(open({ loads: [available, bug] }).book()).rejects.toBe(bug)
  })
})

describe('a command whose event a rival came before', () => {
  it('is decided again on the new state, with the same id', async () => {
    const cancelled = stream([seatAdded, bookingPlaced(12), bookingCancelled(12)], { offsets: [0, 18, 19] })
    const done = stream([seatAdded, bookingPlaced(12), bookingCancelled(12), bookingPlaced(3)], {
      offsets: [0, 18, 19, nextOffset + 1],
    })
    const { book, events, appended } = open({ heard: ['without_effect'], loads: [available, cancelled, done] })
    expect(applied(await book())).toMatchObject({ version: 4, state: { booking: { id: 3 } } })
    expect(appended.map(({ event }) => event.data)).toEqual([bookingData(3), bookingData(3)])
    expect(events()).toEqual(['0/9@2', '0/9@4'])
  })

  it('is refused if that is no longer possible', async () => {
    const { book, appended } = open({ loads: [available, lost] })
    await expect(book()).rejects.toMatchObject({ code: 'seat_not_available' })
    expect(appended).toHaveLength(1)
  })

  it('is decided again on the remaining state if the log lost its end', async () => {
    const cancelled = stream([seatAdded, bookingPlaced(12), bookingCancelled(12)])
    const done = stream([seatAdded, bookingPlaced(3)], { offsets: [0, nextOffset + 1] })
    const { book, events } = open({ loads: [cancelled, available, done] })
    expect(applied(await book()).version).toBe(2)
    expect(events()).toEqual(['0/9@4', '0/9@2'])
  })

  it('is decided again if the log lost its end, and gave the offset of its event to a rival', async () => {
    const given = { offsets: [0, nextOffset], areRivals: true }
    const rival = stream([seatAdded, bookingPlaced(12)], given)
    await expect(open({ loads: [available, rival] }).book()).rejects.toMatchObject({ code: 'seat_not_available' })
  })

  it('is refused while events are parked', async () => {
    const loads = [available, { ...lost, ...parkedAt(nextOffset + 1) }]
    await expect(open({ loads }).book()).rejects.toMatchObject({ code: 'stream_parked' })
  })

  const rivals = (times: number) => {
    const bookings = Array.from({ length: times }, (_, id) => [bookingPlaced(id + 1), bookingCancelled(id + 1)])
    return stream([seatAdded, ...bookings.flat()])
  }

  it('tries again until its time is over, and has had no effect then', async () => {
    const late = (times: number) => () => {
      vi.advanceTimersByTime(2000)
      return rivals(times)
    }
    const { book, events } = open({ loads: [available, late(1), late(2), late(3)] })
    await expect(book()).rejects.toMatchObject({ code: 'conflict' })
    expect(events()).toEqual(['0/9@2', '0/9@4', '0/9@6'])
  })

  it('appends a hundred at most', async () => {
    const { book, appended } = open({ loads: Array.from({ length: 200 }, (_, times) => rivals(times)) })
    await expect(book()).rejects.toMatchObject({ code: 'conflict' })
    expect(appended).toHaveLength(100)
  })
})

describe('a booking whose id another booking has', () => {
  const taken = { heard: ['without_effect'] as const }
  const done = stream([seatAdded, bookingPlaced(10_002)], { offsets: [0, nextOffset + 1] })
  const decided = record({ ...keyOfBooking, partition: 0, stream: '9', id: 10_002, version: 2, offset: nextOffset + 1 })

  it('gets one of another block, as every booking after it', async () => {
    const next = stream([seatAdded, bookingPlaced(10_005)], { offsets: [0, nextOffset + 2] })
    const { book, appended, events } = open({ ...taken, loads: [available, available, done, available, next] })
    expect(applied(await book())).toMatchObject({ version: 2, state: { booking: { id: 10_002 } } })
    expect(applied(await book()).state?.booking?.id).toBe(10_005)
    expect(appended.map(({ event }) => event.data)).toEqual([3, 10_002, 10_005].map(bookingData))
    expect(events()).toEqual(['0/9@2', '0/9@2', '0/9@2'])
  })

  it('keeps its idempotency key, under which it is found again', async () => {
    const { book, appended } = open({
      ...taken,
      loads: [available, available, { ...done, decided }, { ...done, decided }],
    })
    const once = { idempotency: keyOfBooking }
    expect(applied(await book(once)).state?.booking?.id).toBe(10_002)
    expect(await book(once)).toMatchObject({ outcome: 'replayed', record: { id: 10_002 } })
    const { key: idempotencykey } = keyOfBooking
    expect(appended).toMatchObject([{ event: { idempotencykey } }, { event: { idempotencykey } }])
  })

  it('is answered from the record, if a retry on another process was placed meanwhile', async () => {
    const { book, appended } = open({ ...taken, loads: [available, { ...done, decided }] })
    expect(await book({ idempotency: keyOfBooking })).toMatchObject({ outcome: 'replayed', record: { id: 10_002 } })
    expect(appended).toHaveLength(1)
  })

  it('is placed by the retry, if that was not known in time', async () => {
    const { book, appended } = open({
      heard: ['late'],
      loads: [available, available, available, { ...done, decided }],
    })
    await rejection(book({ idempotency: keyOfBooking }))
    expect(applied(await book({ idempotency: keyOfBooking })).state?.booking?.id).toBe(10_002)
    expect(appended).toHaveLength(2)
  })

  it('is refused if a rival booked the seat meanwhile', async () => {
    const rival = stream([seatAdded, bookingPlaced(12)], { offsets: [0, nextOffset + 1], areRivals: true })
    const { book, appended } = open({ ...taken, loads: [available, rival] })
    await expect(book()).rejects.toMatchObject({ code: 'seat_not_available' })
    expect(appended).toHaveLength(1)
  })

  it('comes to nothing if there is no free id until its time is over', async () => {
    const later = () => {
      vi.advanceTimersByTime(2000)
      return available
    }
    const { book, appended } = open({ loads: [available, later, later, later] })
    await expect(book()).rejects.toMatchObject({ code: 'conflict' })
    expect(appended.map(({ event }) => event.data)).toEqual([3, 10_002, 20_001].map(bookingData))
  })
})

describe('a booking under an idempotency key', () => {
  const once = { idempotency: keyOfBooking }
  const decided = record({ ...keyOfBooking, partition: 0, stream: '9', id: 12, version: 2 })

  it('is looked up in one read with its stream, and has an event id of its own', async () => {
    const { book, loads, appended } = open({
      loads: [available, { ...booked, decided: record({ ...keyOfBooking, offset: nextOffset }) }],
    })
    expect(await book(once)).toMatchObject({ outcome: 'applied', version: 2 })
    const key = { partition: 0, key: keyOfBooking.key }
    expect(loads).toMatchObject([{ query: { stream: '9', key } }, { query: { stream: '9', key } }])
    expect(appended[0]?.event).toMatchObject({ idempotencykey: keyOfBooking.key })
    expect(appended[0]?.event.id).not.toBe(eventIdOf(keyOfBooking))
  })

  it('that is decided is answered from the record, be its stream parked, and appends nothing', async () => {
    const { book, appended } = open({ loads: [{ ...lost, ...parkedAt(7), decided }] })
    expect(await book(once)).toEqual({ outcome: 'replayed', record: decided, position: { partition: 0, offset: 3 } })
    expect(appended).toEqual([])
  })

  it('that another request decides meanwhile is answered from its record', async () => {
    const { book } = open({ heard: ['without_effect'], loads: [available, { ...lost, decided }] })
    expect(await book(once)).toMatchObject({ outcome: 'replayed', record: { id: 12 } })
  })
})

describe('a request whose event was stored and not heard of in time', () => {
  const once = { idempotency: keyOfBooking }
  const other = { idempotency: { ...keyOfBooking, fingerprint: 'another' } }
  const decided = record({ ...keyOfBooking, partition: 0, stream: '9', id: 12, version: 2, offset: nextOffset })

  it('is answered from its record when it is sent again, and appends nothing more', async () => {
    const { book, appended } = open({ heard: ['late'], loads: [available, available, { ...booked, decided }] })
    await expect(book(once)).rejects.toMatchObject({ code: 'append_outcome_unknown' })
    expect(await book(once)).toMatchObject({ outcome: 'replayed', record: { id: 12 } })
    expect(appended).toHaveLength(1)
  })

  it('appends nothing more however often it is sent while the read models are behind', async () => {
    const { book, appended } = open({ heard: ['late', 'late', 'late'], loads: [available, available, available] })
    const outcomes = [await rejection(book(once)), await rejection(book(once)), await rejection(book(once))]
    expect(outcomes).toEqual(outcomes.map(() => expect.objectContaining({ id: (outcomes[0] as UnknownOutcome).id })))
    expect(appended).toHaveLength(1)
  })

  it('holds up another request under its key, of which nothing is stored', async () => {
    const { book, appended } = open({ heard: ['late', 'late'], loads: [available, available] })
    await rejection(book(once))
    await expect(book(other)).rejects.toMatchObject({ code: 'conflict' })
    expect(appended).toHaveLength(1)
  })

  it('appends another event once it is known to have had no effect', async () => {
    const now = stream([seatAdded, bookingPlaced(4), bookingCancelled(4)], { offsets: [0, 1, 2] })
    const done = stream([seatAdded, bookingPlaced(4), bookingCancelled(4), bookingPlaced(6)], {
      offsets: [0, 1, 2, nextOffset + 1],
      decided: { ...decided, offset: nextOffset + 1 },
    })
    const { book, events } = open({ heard: ['late'], loads: [available, available, now, done] })
    await rejection(book(once))
    expect(applied(await book(once)).version).toBe(4)
    expect(events()).toEqual(['0/9@2', '0/9@4'])
  })
})

describe('commands of one process', () => {
  it('under one key take turns when they make something new', async () => {
    const keyed = { idempotency: keyOfSeat }
    const decided = record({ ...keyOfSeat, offset: nextOffset })
    const done = stream([seatAdded], { offsets: [nextOffset], decided })
    const { create, appended } = open({ loads: [nothing, done, { ...nothing, decided }] })
    const [first, second] = await Promise.all([create(keyed), create(keyed)])
    expect([first.outcome, second.outcome]).toEqual(['applied', 'replayed'])
    expect(appended).toHaveLength(1)
  })

  it('about one stream take turns: the next one loads what the one before came to', async () => {
    const first = Promise.withResolvers<typeof available>()
    const { book, loads } = open({ loads: [() => first.promise, booked, booked] })
    const outcomes = [book(), book()]
    expect(loads).toHaveLength(1)
    first.resolve(available)
    await expect(outcomes[0]).resolves.toMatchObject({ outcome: 'applied' })
    await expect(outcomes[1]).rejects.toMatchObject({ code: 'seat_not_available' })
  })

  it('about other streams do not wait for each other', async () => {
    const { book, loads } = open({ loads: [() => new Promise(() => {}), available, available] })
    void book()
    await book({}, 12 as typeof seatId).catch(() => {})
    expect(loads.length).toBeGreaterThan(1)
  })

  it('have one deadline from the start: for their turn, the append, and the outcome', async () => {
    const first = Promise.withResolvers<typeof booked>()
    const loads = [() => first.promise, available, booked]
    const { book, appended, waits } = open({ loads, heard: ['late'] })
    const start = performance.now()
    const refused = rejection(book())
    const waiting = rejection(book())
    await vi.advanceTimersByTimeAsync(3000)
    first.resolve(booked)
    await Promise.all([refused, waiting])
    expect(appended.map(({ deadline }) => deadline)).toEqual([start + 5000])
    expect(waits).toMatchObject([{ timeoutMs: 2000 }])
  })

  it('give up when their turn does not come in time, and append nothing', async () => {
    const { book, appended } = open({ loads: [() => new Promise(() => {})] })
    void book()
    const waiting = expect(book()).rejects.toMatchObject({ code: 'conflict' })
    await vi.advanceTimersByTimeAsync(5000)
    await waiting
    expect(appended).toEqual([])
  })
})
