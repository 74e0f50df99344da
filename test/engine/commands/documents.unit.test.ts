import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { bookingDocument } from '../theatre/seats.ts'
import { theatre } from '../theatre/theatre.ts'
import {
  applied,
  bookingApproved,
  bookingCancelled,
  bookingDelivered,
  bookingPlaced,
  nextOffset,
  open,
  type Script,
  seatAdded,
  seatId,
  seatRemoved,
  stream,
} from './scene.ts'

const placed = stream([seatAdded, bookingPlaced(12)])
const approved = stream([seatAdded, bookingPlaced(12), bookingApproved(12)], { offsets: [0, 1, nextOffset] })
const documentIn = ({ row }: typeof placed) => {
  const booking = row && theatre.codec.read(row)?.booking
  return booking && bookingDocument(booking)
}

describe('a command about a document', () => {
  it('is one read, one decision and one append', async () => {
    const { update, loads, events } = open({ loads: [placed, approved] })
    expect(applied(await update(12, 'approved')).state?.booking).toMatchObject({ id: 12, status: 'approved' })
    const document = { collection: 'bookings', id: 12 }
    const outcome = { stream: '9', document, versions: { first: 2, last: 3 } }
    expect(loads.map(({ query }) => query)).toEqual([{ document }, expect.objectContaining(outcome)])
    expect(events()).toEqual(['0/9@3'])
  })

  it('is decided on what came of the one before it, whose turn it waited for', async () => {
    const delivered = stream([seatAdded, bookingPlaced(12), bookingApproved(12), bookingDelivered(12)], {
      offsets: [0, 1, nextOffset, nextOffset + 1],
    })
    const { update, events } = open({ loads: [placed, placed, approved, approved, delivered] })
    const [first, second] = await Promise.all([update(12, 'approved'), update(12, 'delivered')])
    expect([first.outcome, second.outcome]).toEqual(['applied', 'applied'])
    expect(events()).toEqual(['0/9@3', '0/9@4'])
  })
})

describe('a command about the document that shows its stream', () => {
  const added = stream([seatAdded])
  const removed = stream([seatAdded, seatRemoved], { offsets: [0, nextOffset] })
  it('looks its stream up by the id, in the same read', async () => {
    const { remove, loads, events } = open({ loads: [added, removed] })
    expect(applied(await remove()).state).toMatchObject({ isRemoved: true })
    const document = { collection: 'seats', id: 9 }
    expect(loads[0]?.query).toEqual({ document, stream: '9' })
    expect(events()).toEqual(['0/9@2'])
  })

  it('that is removed is not there for any other command, nor what rivals removed just before', async () => {
    const about = { stream: { collection: 'seats', id: seatId } }
    const change = (loads: Script['loads'] = []) => open({ loads, heard: ['without_effect'] }).book(about)
    expect(await change([removed])).toMatchObject({ outcome: 'not_found' })
    const rival = stream([seatAdded, seatRemoved], { offsets: [0, 1] })
    expect(await change([added, rival])).toMatchObject({ outcome: 'not_found' })
  })
})

describe('If-Match', () => {
  const own = documentIn(placed)
  const accepts = (accepted: string | undefined) => ({
    precondition(json: string) {
      if (json !== accepted) throw new ServiceError('precondition_failed', '')
    },
  })
  const failed = { code: 'precondition_failed' }

  it('is judged again when a rival came first', async () => {
    const rival = stream([seatAdded, bookingPlaced(12), bookingCancelled(12)])
    const { update, appended } = open({ loads: [placed, rival] })
    await expect(update(12, 'approved', accepts(own))).rejects.toMatchObject(failed)
    expect(appended).toHaveLength(1)
  })

  it('is judged before what the decider rejects', async () => {
    const update = (accepted: string | undefined) =>
      open({ loads: [placed] }).update(12, 'delivered', accepts(accepted))
    await expect(update('another')).rejects.toMatchObject(failed)
    await expect(update(own)).rejects.toMatchObject({ code: 'booking_transition_invalid' })
  })

  it('is compared with the stored document of an earlier booking, which is final', async () => {
    const json = '{"id":11,"status":"cancelled"}'
    const loads = [{ ...placed, document: { json, stream: '9' } }]
    const unchanged = await open({ loads }).update(11, 'cancelled', accepts('another'))
    expect(unchanged).toMatchObject({ outcome: 'unchanged', document: json })
    await expect(open({ loads }).update(11, 'approved', accepts(own))).rejects.toMatchObject(failed)
    await expect(open({ loads }).update(11, 'approved', accepts(json))).rejects.toMatchObject({
      code: 'booking_transition_invalid',
    })
  })
})
