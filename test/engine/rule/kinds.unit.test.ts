import { describe, expect, it } from 'vitest'
import { checkDefinition } from '../../../src/engine/definition/check.ts'
import { openProjection, outcomesOf as outcomes, parkedIn, project } from '../projector/projecting.ts'
import { type AnyRecord, discard, foreignRecord, seatAdded } from '../projector/records.ts'
import { theatre } from '../theatre/theatre.ts'
import { twoKinds } from '../two-kinds.ts'

const outcomesOf = (records: readonly AnyRecord[]) => outcomes(records, undefined, twoKinds)

/** An event of a hall under any key. */
function hallBuilt(key: string, id = 7, streamversion = 1, type = 'theatre.HallBuilt.v1'): AnyRecord {
  const data = { id, name: 'Large' }
  return foreignRecord({ id: `${key} ${streamversion}`, type, source: '/v1/halls', subject: key, streamversion, data })
}
const discardOf = (key: string, offset: number) => discard(key, offset, twoKinds.kinds[1]?.events)

it('the theatre with its halls is defined well', () => expect(() => checkDefinition(twoKinds)).not.toThrow())

describe('a record key', () => {
  it.each([
    ['an id that is written otherwise', 'halls/007'],
    ['a collection without an id', 'halls/'],
    ['the collection of the first kind', 'seats/7'],
    ['more than an id', 'halls/7/8'],
  ])('of no stream is skipped: %s', async (_, key) => {
    expect(await outcomesOf([hallBuilt(key), discardOf(key, 0)])).toEqual(['skipped', 'skipped'])
  })

  it('of a collection that this release has no streams of is parked, until it is discarded', async () => {
    const records = [hallBuilt('other/1'), hallBuilt('other/1', 7, 2), discardOf('other/1', 0), discardOf('other/1', 1)]
    expect(await outcomesOf(records)).toEqual(['parked', 'parked', 'applied discarded', 'applied discarded'])
    const { parked, waiting } = await (await project(records.slice(0, 2), [], twoKinds)).read()
    expect(parkedIn({ parked, waiting }).map(({ stream, reason }) => [stream, reason])).toEqual([
      ['other/1', 'streams of this kind are unknown'],
      ['other/1', undefined],
    ])
  })

  it('of a seat has no event of a hall, and that of a hall none of a seat: they are parked', async () => {
    const seat = seatAdded({ id: 7 })
    const inHall = {
      ...seat,
      key: Buffer.from('halls/7'),
      value: Buffer.from(String(seat.value).replace('"subject":"7"', '"subject":"halls/7"')),
    }
    expect(await outcomesOf([hallBuilt('7'), inHall])).toEqual(['parked', 'parked'])
    const { parked, waiting } = await (await project([hallBuilt('7'), inHall], [], twoKinds)).read()
    expect(parkedIn({ parked, waiting }).map(({ reason }) => reason)).toEqual([
      'type theatre.HallBuilt.v1 is unknown',
      'type theatre.SeatAdded.v1 is unknown',
    ])
  })
})

describe('two kinds', () => {
  it('with one id are two streams, with a document each', async () => {
    const records = [seatAdded({ id: 7 }), hallBuilt('halls/7'), hallBuilt('halls/7', 7, 2, 'theatre.HallClosed.v1')]
    expect(await outcomesOf(records)).toEqual(['applied', 'applied', 'applied'])
    const { documents } = await (await project(records.slice(0, 2), [], twoKinds)).read()
    expect(documents).toMatchObject({
      seats: [['7', expect.any(String)]],
      halls: [['7', expect.stringMatching(/^{"id":7,"name":"Large"}/)]],
    })
    const closed = await (await project(records, [], twoKinds)).read()
    expect([closed.documents.halls, closed.documents.seats?.length]).toEqual([undefined, 1])
    expect(closed.rows).toEqual([['halls/7', expect.stringMatching(/^2x /)]])
  })

  it('neither shows a document of the other: what does is parked', async () => {
    const { parked, waiting } = await (await project([hallBuilt('halls/7', 8)], [], twoKinds)).read()
    expect(parkedIn({ parked, waiting })).toMatchObject([{ reason: 'halls 8 belongs to the stream halls/8' }])
  })

  it('a release that has one of them parks the other, whose next release applies it', async () => {
    const records = [seatAdded({ id: 7 }), hallBuilt('halls/7'), hallBuilt('halls/8', 8)]
    expect(await outcomes(records, undefined, theatre)).toEqual(['applied', 'parked', 'parked'])
    const later = await openProjection(undefined, twoKinds)
    await later.apply(records)
    expect((await later.read()).documents.halls).toHaveLength(2)
  })
})
