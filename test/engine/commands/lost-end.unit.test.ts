import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  applied,
  bookingPlaced,
  keyOfBooking,
  nextOffset,
  open,
  record,
  rejection,
  seatAdded,
  stream,
} from './scene.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const once = { idempotency: keyOfBooking }
const available = stream([seatAdded])
const decided = record({ ...keyOfBooking, partition: 0, stream: '9', id: 6, version: 2, offset: nextOffset + 1 })
const done = stream([seatAdded, bookingPlaced(6)], { offsets: [0, nextOffset + 1], decided })

describe('an event that was stored under a key and not heard of in time', () => {
  it('is let go once it lies beyond the end of a log that lost its end: the retry gets its final answer', async () => {
    let endOffset = nextOffset + 1
    const { book, appended } = open({
      heard: ['late'],
      loads: [available, available, done],
      endOffset: () => endOffset,
    })
    await expect(book(once)).rejects.toMatchObject({ code: 'append_outcome_unknown' })
    endOffset = nextOffset
    expect(applied(await book(once)).version).toBe(2)
    expect(appended).toHaveLength(2)
  })

  it('is let go once another generation is read', async () => {
    let generation = 'first'
    const { book, appended } = open({
      heard: ['late'],
      loads: [available, available, done],
      generation: () => generation,
    })
    await rejection(book(once))
    generation = 'second'
    expect(applied(await book(once)).version).toBe(2)
    expect(appended).toHaveLength(2)
  })

  it('is known not to be there when a rival has its offset, version and all', async () => {
    const rival = stream([seatAdded, bookingPlaced(4)], { offsets: [0, nextOffset], areRivals: true })
    const { book, appended } = open({ heard: ['late'], loads: [available, available, rival] })
    await rejection(book(once))
    await expect(book(once)).rejects.toMatchObject({ code: 'seat_not_available' })
    expect(appended).toHaveLength(1)
  })
})
