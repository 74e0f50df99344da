import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { UnknownOutcome } from '../../../src/engine/commands/command-handler.ts'
import { eventIdOf } from '../../../src/engine/commands/idempotency.ts'
import {
  a12,
  applied,
  bookingPlaced,
  failure,
  keyOfSeat,
  nextOffset,
  nothing,
  open,
  parkedAt,
  partitionOfKey,
  record,
  rejection,
  seatAdded,
  stream,
  time,
} from './scene.ts'

/** Somebody else's seat is under the id. */
const taken = stream([seatAdded])
const effect = stream([seatAdded], { offsets: [nextOffset] })
const parked = { ...nothing, ...parkedAt(nextOffset) }
/** Somebody else's event is parked under the id, and ours waits behind it. */
const behindParked = { ...nothing, ...parkedAt(nextOffset - 1) }
const decidedHere = record({ offset: nextOffset })

describe('a new stream', () => {
  it('begins with an event of version 1, and is answered as soon as that is applied; nothing is loaded', async () => {
    const { create, appended, loads, followed } = open({})
    const traceparent = '00-trace-span-01'
    const handled = await create({ traceparent })
    expect(handled).toMatchObject({ outcome: 'applied', version: 1, isReadable: true })
    expect(applied(handled).position).toEqual({ partition: 0, offset: nextOffset })
    expect(applied(handled).state).toEqual({ seat: { id: 3, ...a12 }, booking: undefined })
    const event = { subject: '3', time, traceparent, streamversion: 1, data: { id: 3, ...a12 } }
    expect(appended).toMatchObject([{ partition: 0, record: { key: '3' }, event }])
    expect([loads, followed]).toEqual([[], []])
  })

  it.each(['+010000-01-01T00:00:00.000Z', '+275760-09-13T00:00:00.000Z', '-000001-12-31T23:59:59.999Z'])(
    'is refused before anything is appended where the clock says %s, which no event can have',
    async (at) => {
      const { create, appended } = open({ clock: () => new Date(at) })
      const refusal = { code: 'event_log_unavailable', message: expect.stringContaining(`${at}, which no event can`) }
      await expect(create()).rejects.toMatchObject(refusal)
      expect(appended).toEqual([])
    },
  )

  it.each(['9999-12-31T23:59:59.999Z', '0000-01-01T00:00:00.000Z'])(
    'has the time of its clock up to %s',
    async (at) => {
      const { create, appended } = open({ clock: () => new Date(at) })
      await create()
      expect(appended).toMatchObject([{ event: { time: at } }])
    },
  )

  it('is answered without being readable when that takes longer than it is waited for, and followed from then on', async () => {
    const { create, waits, followed } = open({ heard: ['late'] })
    const isAbandoned = () => false
    expect(applied(await create({ wait: { timeoutMs: 300, isAbandoned } })).isReadable).toBe(false)
    expect(waits).toEqual([{ timeoutMs: expect.closeTo(300, -2), isRecorded: true, isAbandoned }])
    expect(followed).toEqual([{ partition: 0, offset: nextOffset }])
  })

  it('is refused at its deadline where no ids come, and appends with what is left of the time where they come late', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const block = Promise.withResolvers<number>()
    const { create, appended } = open({ reserveIdBlock: () => block.promise })
    const start = performance.now()
    const refused = expect(create()).rejects.toMatchObject({ code: 'event_log_unavailable' })
    await vi.advanceTimersByTimeAsync(2000)
    const creating = create()
    await vi.advanceTimersByTimeAsync(3000)
    await refused
    expect(appended).toEqual([])
    block.resolve(1)
    await creating
    expect(appended.map(({ deadline }) => deadline)).toEqual([start + 7000])
  })

  it('goes with the batch that is being gathered, also once there are ids again, under an id of its partition', async () => {
    const block = Promise.withResolvers<number>()
    const { create, appender, appended, events } = open({ reserveIdBlock: () => block.promise })
    const creating = create()
    appender.gathering = 1
    block.resolve(1)
    await creating
    for (const gathering of [2, 0]) {
      appender.gathering = gathering
      await create()
    }
    expect(events()).toEqual(['1/1@1', '2/2@1', '0/3@1'])
    expect(new Set(appended.map(({ event }) => event.id)).size).toBe(3)
  })

  it('is not there when there are no ids to be had', async () => {
    const away = failure('event_log_unavailable')
    const { create, appended } = open({ reserveIdBlock: () => Promise.reject(away) })
    await expect(create()).rejects.toBe(away)
    expect(appended).toEqual([])
  })

  it('ends as the append does', async () => {
    const error = failure('overloaded')
    await expect(open({ appends: [error] }).create()).rejects.toBe(error)
  })

  it('has an unknown outcome, and an id, when that of the append is unknown', async () => {
    const cause = failure('append_outcome_unknown')
    const error = await rejection(open({ appends: [cause] }).create())
    expect(error).toBeInstanceOf(UnknownOutcome)
    expect(error).toMatchObject({ code: cause.code, message: cause.message, id: 3, cause })
  })
})

describe.each(['without_effect', 'unheard'] as const)('a new stream of whose event this was heard: %s', (heard) => {
  it('is looked at, with what is left of the wait', async () => {
    const { create, loads } = open({ heard: [heard], loads: [effect] })
    expect(await create({ wait: { timeoutMs: 300 } })).toMatchObject({ outcome: 'applied', isReadable: true })
    const position = { partition: 0, offset: nextOffset }
    const query = { stream: '3', document: undefined, key: undefined, versions: { first: 0, last: 1 } }
    expect(loads).toEqual([{ query, atLeast: { positions: [position], wait: { timeoutMs: expect.closeTo(300, -2) } } }])
  })

  it.each([
    ['there is a seat under its own', taken],
    ['it needed something else under its own that is taken', nothing],
    ['somebody else has an event parked under its own, which it never gets past', behindParked],
  ])('gets an id from another block when %s', async (_, found) => {
    const { create, events, followed } = open({ heard: [heard], loads: [found] })
    expect(applied(await create()).state?.seat.id).toBe(10_002)
    expect(events()).toEqual(['0/3@1', '0/10002@1'])
    expect(followed).toEqual([])
  })

  it('comes to nothing when the wait is over by then', async () => {
    const { create, appended } = open({ heard: [heard], loads: [taken] })
    await expect(create({ wait: { timeoutMs: 0 } })).rejects.toMatchObject({ code: 'conflict' })
    expect(appended).toHaveLength(1)
  })

  it('is an error when the event is parked', async () => {
    const { create, appended } = open({ heard: [heard], loads: [parked] })
    await expect(create()).rejects.toMatchObject({ code: 'event_parked' })
    expect(appended).toHaveLength(1)
  })

  it('is not reported as readable if its outcome cannot be checked', async () => {
    const cause = failure('read_model_unavailable')
    const { create, followed } = open({ heard: [heard], loads: [cause] })
    const creating = create()
    if (heard === 'unheard') {
      expect(await creating).toMatchObject({ outcome: 'applied', isReadable: false })
      expect(followed).toHaveLength(1)
    } else await expect(creating).rejects.toMatchObject({ code: 'append_outcome_unknown', id: 3, cause })
  })
})

describe('a new stream under an idempotency key', () => {
  const once = { idempotency: keyOfSeat }
  const decidedBy = (over: Parameters<typeof record>[0]) => ({ ...nothing, decided: record(over) })

  it('goes to the partition of the key, and is answered once its outcome is known', async () => {
    const { create, loads, appended, events } = open({ loads: [nothing, { ...effect, decided: decidedHere }] })
    expect(await create(once)).toMatchObject({ outcome: 'applied', version: 1, isReadable: true })
    expect(events()).toEqual(['2/2@1'])
    const { key: idempotencykey, fingerprint: requestfingerprint } = keyOfSeat
    expect(appended[0]?.event).toMatchObject({ id: eventIdOf(keyOfSeat), idempotencykey, requestfingerprint })
    const key = { partition: partitionOfKey, key: keyOfSeat.key }
    expect(loads.map(({ query }) => query)).toEqual([
      { stream: undefined, document: undefined, key },
      { stream: '2', document: undefined, key, versions: { first: 0, last: 1 } },
    ])
  })

  it('that was decided before is answered from the record, whatever became of it since', async () => {
    const decided = record({ stream: '8', id: 8, version: 4 })
    const { create, appended } = open({ loads: [{ ...nothing, decided }] })
    const position = { partition: partitionOfKey, offset: decided.offset }
    expect(await create(once)).toEqual({ outcome: 'replayed', record: decided, position })
    expect(appended).toEqual([])
  })

  it('that another request decides meanwhile is answered from its record', async () => {
    const { create, appended } = open({ heard: ['without_effect'], loads: [nothing, decidedBy({})] })
    expect(await create(once)).toMatchObject({ outcome: 'replayed', record: record() })
    expect(appended).toHaveLength(1)
  })

  it('is refused when it was used for something else, before or meanwhile', async () => {
    const other = decidedBy({ fingerprint: 'of something else' })
    for (const loads of [[other], [nothing, other]]) {
      await expect(open({ loads }).create(once)).rejects.toMatchObject({ code: 'idempotency_key_reused' })
    }
  })

  it('is an error when the event that decided it is parked, or was until it was discarded, be it its own', async () => {
    const own = decidedBy({ offset: nextOffset, parked: true })
    const other = decidedBy({ parked: true })
    for (const loads of [[other], [nothing, other], [nothing, own], [nothing, { ...parked, decided: own.decided }]]) {
      await expect(open({ loads }).create(once)).rejects.toMatchObject({ code: 'event_parked' })
    }
  })

  it.each([
    ['there is a seat under its own', stream([seatAdded, bookingPlaced(12)])],
    ['it needed something else under its own that is taken', nothing],
    ['somebody else has an event parked under its own', behindParked],
  ])('gets an id from another block, and the same event id, when %s', async (_, found) => {
    const ours = stream([seatAdded], { offsets: [nextOffset + 1], decided: record({ offset: nextOffset + 1 }) })
    const { create, appended, events } = open({ loads: [nothing, found, ours] })
    expect(applied(await create(once)).version).toBe(1)
    expect(events()).toEqual(['2/2@1', '2/10001@1'])
    expect(new Set(appended.map(({ event }) => event.id))).toEqual(new Set([eventIdOf(keyOfSeat)]))
  })
})
