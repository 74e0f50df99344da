import { describe, expect, it } from 'vitest'
import { createCommandHandler } from '../../../src/engine/commands/execution.ts'
import { IdAllocator } from '../../../src/engine/commands/id-allocator.ts'
import type { NewRecord } from '../../../src/engine/log/event-log.ts'
import { defaultLimits, GroupCommit } from '../../../src/engine/log/group-commit.ts'
import { recordValueMax } from '../../../src/engine/log/record-codec.ts'
import { openProjection } from '../projector/projecting.ts'
import * as records from '../projector/records.ts'
import type { SeatCommand, SeatEvent, SeatState } from '../theatre/seats.ts'
import { theatre } from '../theatre/theatre.ts'
import {
  applied,
  bookingApproved,
  bookingCancelled,
  bookingPlaced,
  keyOfSeat,
  nextOffset,
  open,
  rejection,
  seatAdded,
  seatId,
  stream,
} from './scene.ts'
import { unseenBlocks } from './unseen-blocks.ts'

const available = stream([seatAdded])
/** The seat once these events took effect in one record, which was appended first. */
function afterAtOnce(...events: readonly SeatEvent[]) {
  const found = stream([seatAdded, ...events], { offsets: [0, ...events.map(() => nextOffset)] })
  return { ...found, row: found.row && { ...found.row, version: 2, entries: found.row.entries.slice(0, 2) } }
}
const decides = (...events: readonly SeatEvent[]) => ({ decide: () => events })
const turned = [bookingPlaced(3), bookingCancelled(3), bookingPlaced(6)]

describe('a command that gives several events', () => {
  it('appends one record of them, with the next version, and answers with the state after the last', async () => {
    const { book, appended } = open({ ...decides(...turned), loads: [available, afterAtOnce(...turned)] })
    const handled = applied(await book())
    expect(handled).toMatchObject({ version: 2, state: { seat: { status: 'pending' }, booking: { id: 6 } } })
    expect(appended).toHaveLength(1)
    const [{ event } = {}] = appended
    const events = ['BookingPlaced', 'BookingCancelled', 'BookingPlaced'].map((name, i) => ({
      id: `${event?.id}-${i}`,
      type: `theatre.${name}.v1`,
      data: { bookingId: i === 2 ? 6 : 3, seatId },
    }))
    expect(event).toMatchObject({ type: 'theatre.Several.v1', streamversion: 2, data: { events } })
  })

  it('begins a stream with them, and is answered before they are applied', async () => {
    const both = (id: number): SeatEvent[] => [
      { type: 'SeatAdded', seat: { id, name: 'A12', rowId: 7, status: 'available' } },
      { type: 'BookingPlaced', bookingId: id, seatId: id },
    ]
    const decide = (command: SeatCommand) => both('id' in command ? command.id : 0)
    const { create, followed } = open({ decide, heard: ['late'] })
    const handled = applied(await create())
    expect(handled).toMatchObject({ isReadable: false, version: 1, state: { booking: { id: handled.id } } })
    expect(followed).toHaveLength(1)
    const again = open({ decide, loads: [{ ...stream([]) }, stream([])], heard: ['late', 'late'] })
    await rejection(again.create({ idempotency: keyOfSeat }))
    expect(again.appended[0]?.event).toMatchObject({ idempotencykey: keyOfSeat.key, type: 'theatre.Several.v1' })
  })

  it('of one appends what that event alone appends', async () => {
    const alone = open({ loads: [available, stream([seatAdded, bookingPlaced(3)], { offsets: [0, nextOffset] })] })
    const listed = open({ ...decides(bookingPlaced(3)), loads: [available, afterAtOnce(bookingPlaced(3))] })
    await alone.book()
    await listed.book()
    const [one, other] = [alone, listed].map(({ appended }) => ({ ...appended[0]?.event, id: '' }))
    expect(other).toEqual(one)
  })

  it('or none, changes nothing', async () => {
    const { book, appended } = open({ ...decides(), loads: [available] })
    expect(await book()).toMatchObject({ outcome: 'unchanged' })
    expect(appended).toEqual([])
  })

  it('is decided anew where a rival came first', async () => {
    const rival = stream([seatAdded, bookingPlaced(12)], { offsets: [0, nextOffset - 1], areRivals: true })
    const asked: unknown[] = []
    const decide = (_: unknown, state: SeatState | undefined) => {
      asked.push(state?.booking?.id)
      return state?.booking === undefined ? turned : [bookingApproved(12), bookingCancelled(12)]
    }
    const after = stream([seatAdded, bookingPlaced(12), bookingApproved(12)], {
      offsets: [0, nextOffset - 1, nextOffset + 1],
    })
    const { book, events } = open({ decide, loads: [available, rival, after], heard: ['without_effect', 'applied'] })
    expect(await book({ creates: undefined })).toMatchObject({ outcome: 'applied', version: 3 })
    expect([asked, events()]).toEqual([
      [undefined, 12],
      ['0/9@2', '0/9@3'],
    ])
  })
})

describe('nothing is appended', () => {
  it.each<[what: string, events: readonly SeatEvent[], refused: object]>([
    [
      'where one in the middle cannot follow',
      [bookingPlaced(3), bookingPlaced(6), bookingCancelled(3)],
      { code: 'event_not_applicable', cause: { message: 'event 2 of 3: seat 9 is pending, not available' } },
    ],
    [
      'where they are more than the projector reads',
      Array.from({ length: 100 }, (_, i) => [bookingPlaced(i + 1), bookingCancelled(i + 1)]).flat(),
      { code: 'event_too_large', message: expect.stringContaining(`may have ${recordValueMax}`) },
    ],
  ])('%s', async (_, events, refused) => {
    const { book, appended } = open({ ...decides(...events), loads: [available] })
    expect(await rejection(book())).toMatchObject(refused)
    expect(appended).toEqual([])
  })

  it('where the state after the last one has more characters than a stream may, whatever it had between them', async () => {
    const growing = (...lengths: readonly number[]) => {
      const evolve = (state: SeatState | undefined, recorded: { event: SeatEvent }) => {
        const { event } = recorded
        const hidden = 'bookingId' in event ? 'x'.repeat(event.bookingId) : ''
        return state === undefined
          ? theatre.stream.evolve(state, { ...recorded, version: 1, time: '' })
          : { ...state, hidden }
      }
      return open({ evolve, ...decides(...lengths.map(bookingPlaced)), loads: [available] }).book({
        creates: undefined,
      })
    }
    expect(await rejection(growing(1, 20_000))).toMatchObject({ code: 'stream_full' })
    expect(await rejection(growing(1, 300_000, 1))).toMatchObject({ code: 'stream_full' })
    expect(await rejection(growing(20_000, 1))).toEqual(new Error('the script does not say what is loaded'))
  })
})

it('another id is drawn where one of several events has one that is taken', async () => {
  const decide = (command: SeatCommand) => {
    const id = 'bookingId' in command ? command.bookingId : 0
    return id < 10_001
      ? [bookingPlaced(3), bookingCancelled(3), bookingPlaced(3)]
      : [bookingPlaced(id), bookingApproved(id)]
  }
  const { book, appended } = open({
    decide,
    loads: [available, afterAtOnce(bookingPlaced(3), bookingApproved(3))],
  })
  expect(applied(await book()).id).toBeGreaterThan(10_000)
  expect(appended).toHaveLength(1)
})

/** A seat in memory, and as many processes that handle commands about it as there are deciders. */
async function openRivals(
  ...deciders: ((id: number, state: SeatState | undefined) => SeatEvent | readonly SeatEvent[])[]
) {
  const projection = await openProjection()
  await projection.apply([records.seatAdded({ id: 1 })])
  let blocks = 0
  const log = {
    ...projection.log,
    partitions: 1,
    reserveIdBlock: async () => ++blocks,
    async append(_: number, appended: readonly NewRecord[]) {
      const [first = 0] = await log.endOffsets()
      await projection.apply(appended.map(({ key, value }) => records.record(value, key)))
      return first
    },
  }
  const readModel = { ...projection.readModel, whenApplied: async () => 'unheard' as const, reportDamage: () => {} }
  const appender = new GroupCommit(log, defaultLimits)
  const handlers = deciders.map((decide) =>
    createCommandHandler({
      definition: theatre,
      kind: {
        ...theatre,
        stream: {
          ...theatre.stream,
          decide: (command: SeatCommand, state: SeatState | undefined) =>
            decide('id' in command ? command.id : 0, state),
        },
      },
      ...{ log, readModel, appender, ids: new IdAllocator(log, unseenBlocks(log)) },
      ...{ acknowledged: { follow: () => {} }, now: () => new Date(0), timeoutMs: 5000 },
    }),
  )
  const handle = (which: number) =>
    handlers[which]?.handle(({ id }): SeatCommand => ({ type: 'removeSeat', id }), {
      ...{ stream: '1', creates: 'bookings', owner: 'owner', wait: { timeoutMs: 1000 } },
    })
  return { ...projection, handle }
}

it('rivals that write up to three events at once: each is decided on all that took effect before', async () => {
  const event = (type: 'BookingPlaced' | 'BookingApproved' | 'BookingCancelled', bookingId: number): SeatEvent => ({
    ...{ type, bookingId, seatId: 1 },
  })
  const isOpen = (state: SeatState | undefined) => /placed|approved/.test(state?.booking?.status ?? '')
  const { handle, counts, readModel } = await openRivals(
    (id, state) => {
      const before = isOpen(state) ? [event('BookingCancelled', state?.booking?.id ?? 0)] : []
      return [...before, event('BookingPlaced', id), event('BookingApproved', id)]
    },
    (id, state) => {
      const cancelled = event('BookingCancelled', state?.booking?.id ?? 0)
      const placed = event('BookingPlaced', id)
      return isOpen(state) ? [cancelled, placed, event('BookingCancelled', id)] : placed
    },
  )
  const answers = []
  for (let round = 0; round < 20; round++) answers.push(...(await Promise.all([0, 1, 1, 0].map(handle))))
  const versions = answers.map((each) => (each?.outcome === 'applied' ? each.version : 0))
  expect(versions.toSorted((one, other) => one - other)).toEqual(Array.from(answers, (_, i) => i + 2))
  expect((await readModel.load({ stream: '1' })).row?.version).toBe(81)
  expect(counts()).toMatchObject({ applied: 81, parked: 0, duplicate: 0 })
  expect(counts().superseded).toBeGreaterThan(20)
})
