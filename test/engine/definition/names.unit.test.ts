import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { checkDefinition } from '../../../src/engine/definition/check.ts'
import { define } from '../../../src/engine/definition/definition.ts'
import {
  command,
  defineService,
  stream as infer,
  Rejected,
  type Resource,
  type Service,
} from '../../../src/engine/index.ts'

/*
 * A wrong name is refused by the compiler: `tsc` fails on each `@ts-expect-error` below that has no error behind it. What
 * can be seen in the definition is refused at the start too, for who writes JavaScript.
 */

type Lot = { readonly id: number; readonly high: number } | undefined
type LotEvent = { readonly type: 'LotAdded'; readonly id: number } | { readonly type: 'BidMade'; readonly bid: number }
type Asked = { readonly add: number } | { readonly bid: number }

const integer = Type.Integer({ minimum: 1, maximum: 999, examples: [7] })
const errors = {
  bid_too_low: { status: 409, retry: 'no', meaning: 'The bid is too low.' },
} satisfies Service['errors']

function decide(asked: Asked, lot: Lot): LotEvent | 'unchanged' | Rejected<keyof typeof errors | 'lot_not_found'> {
  if ('add' in asked) return { type: 'LotAdded', id: asked.add }
  if (lot === undefined) return new Rejected('lot_not_found', 'There is no such lot.')
  // @ts-expect-error -- no such error
  if (asked.bid === 1) return new Rejected('bid_to_low', 'The bid is too low.')
  return asked.bid > lot.high ? { type: 'BidMade', bid: asked.bid } : new Rejected('bid_too_low', 'The bid is too low.')
}

const lots: Resource<'lot'> = {
  path: '/v1/lots',
  noun: 'lot',
  tag: { name: 'lots', description: 'What is sold' },
  schema: Type.Object({ id: integer, high: Type.Integer() }, { title: 'Lot' }),
  example: { id: 7, high: 0 },
  list: { operationId: 'listLots', summary: 'List all lots' },
  find: { operationId: 'getLot', summary: 'Get a lot' },
  history: { operationId: 'listLotEvents', summary: 'List what happened to a lot' },
}

const added = { name: 'lotAdded', summary: 'Lot 7', stream: 7, version: 1, event: { type: 'LotAdded', id: 7 } } as const
const made = { name: 'bidMade', summary: 'A bid', stream: 7, version: 2, event: { type: 'BidMade', bid: 1 } } as const
const [ofLot, ofBid] = [
  { version: 1, description: 'A lot was added', data: Type.Object({ id: integer }), examples: [added] },
  { version: 1, description: 'A bid was made', data: Type.Object({ bid: integer }), examples: [made] },
]

const addLot = command({
  method: 'POST',
  path: '/v1/lots',
  scope: 'write',
  texts: { operationId: 'addLot', summary: 'Add a lot' },
  body: Type.Object({}, { title: 'LotInput' }),
  on: 'new',
  creates: 'lots',
  rejects: {},
  command: ({ id }): Asked => ({ add: id }),
})

const bidding = {
  method: 'PATCH',
  path: '/v1/lots/:lotId',
  scope: 'write',
  texts: { operationId: 'bid', summary: 'Bid for a lot' },
  body: Type.Object({ bid: integer }, { title: 'Bid' }),
  on: { document: 'lots' },
  rejects: { bid_too_low: 'The bid is too low.', stream_full: 'There are too many bids.' },
  command: ({ body }: { body: { bid: number } }): Asked => body,
} as const
const bid = command(bidding)
const bidForShelf = command({ ...bidding, on: { document: 'shelves' } })
const bidTooLate = command({ ...bidding, rejects: { ...bidding.rejects, bid_to_late: 'It is too late.' } })
const addShelf = command({ ...bidding, method: 'POST', path: '/v1/bids', on: 'new', creates: 'shelves' })

const stream = {
  collection: 'lots',
  source: '/v1/lots',
  initial: undefined as Lot,
  decide,
  evolve: (lot: Lot, { event }: { event: LotEvent }): Lot =>
    event.type === 'LotAdded' ? { id: event.id, high: 0 } : lot && { ...lot, high: event.bid },
  events: { LotAdded: ofLot, BidMade: ofBid },
  projections: [
    {
      name: 'lots',
      version: 1,
      documents: (lot: Lot) =>
        lot ? [{ collection: 'lots', id: lot.id, json: `{"id":${lot.id},"high":${lot.high}}` }] : [],
    },
  ],
  commands: [addLot, bid],
} as const

const auction = { name: 'auction', title: 'Auction', version: '1.0.0', description: 'Lots that are sold.' }
const whole = { ...auction, streams: [infer(stream)], resources: { lots }, errors }

const startOf =
  ({ service }: { readonly service: Service }) =>
  () =>
    checkDefinition(define(service))

it('a service that names what exists is accepted', () => {
  expect(startOf(defineService(whole))).not.toThrow()
})

describe('a wrong name is refused by the compiler', () => {
  it('of an error, in what decide returns', () => {
    const other: { decide(asked: Asked, lot: Lot): LotEvent | Rejected<'bid_to_low'> } = {
      decide: () => new Rejected('bid_to_low', 'The bid is too low.'),
    }
    // @ts-expect-error -- no error bid_to_low
    defineService({ ...whole, streams: [infer({ ...stream, ...other })] })
    const ofAny: { decide(asked: Asked, lot: Lot): LotEvent | Rejected<string> } = other
    // @ts-expect-error -- any text is not an error of the service
    defineService({ ...whole, streams: [infer({ ...stream, ...ofAny })] })
    const ofOtherNoun: { decide(asked: Asked, lot: Lot): LotEvent | Rejected<'lott_not_found'> } = {
      decide: () => new Rejected('lott_not_found', 'There is no such lot.'),
    }
    // @ts-expect-error -- no resource has the noun lott
    defineService({ ...whole, streams: [infer({ ...stream, ...ofOtherNoun })] })
  })

  it('of an error, in what a command rejects, and at the start', () => {
    // @ts-expect-error -- no error bid_to_late
    const start = startOf(defineService({ ...whole, streams: [infer({ ...stream, commands: [addLot, bidTooLate] })] }))
    expect(start).toThrow('commands: bid.rejects: bid_to_late is no error of the service')
  })

  it('of the collection that a command is about, and at the start', () => {
    // @ts-expect-error -- no resource shelves
    const start = startOf(defineService({ ...whole, streams: [infer({ ...stream, commands: [addLot, bidForShelf] })] }))
    expect(start).toThrow('commands: bid: it is about one of shelves, which is no resource')
  })

  it('of the collection that a command creates one of, and at the start', () => {
    // @ts-expect-error -- no resource shelves
    const start = startOf(defineService({ ...whole, streams: [infer({ ...stream, commands: [addLot, addShelf] })] }))
    expect(start).toThrow('commands: bid: it creates one of shelves, which is no resource')
  })

  it('of the collection of the stream, and at the start', () => {
    // @ts-expect-error -- no resource shelves
    const start = startOf(defineService({ ...whole, streams: [infer({ ...stream, collection: 'shelves' })] }))
    expect(start).toThrow('streams: there is no resource shelves')
  })

  it('of an event', () => {
    const start = startOf(
      // @ts-expect-error -- no event BidMad
      defineService({ ...whole, streams: [infer({ ...stream, events: { LotAdded: ofLot, BidMad: ofBid } })] }),
    )
    expect(start).toThrow('events.BidMad.examples: bidMade: it is of the type BidMade')
    const decideOther: { decide(asked: Asked, lot: Lot): LotEvent } = {
      // @ts-expect-error -- no event BidMad
      decide: () => ({ type: 'BidMad', bid: 1 }),
    }
    expect(decideOther).toBeDefined()
  })
})

describe('types are inferred where they are said once', () => {
  type Named = { readonly type: 'add'; readonly id: number } | { readonly type: 'bid'; readonly bid: number }
  const add = command({
    ...{ method: 'POST', path: '/v1/lots', scope: 'write', on: 'new', creates: 'lots', rejects: {} },
    texts: { operationId: 'addLot', summary: 'Add a lot' },
    body: Type.Object({}, { title: 'LotInput' }),
    command: ({ id }) => ({ type: 'add', id }),
  })
  const bids = command({ ...bidding, command: ({ body }) => ({ type: 'bid', ...body }) })
  const commands = [add, bids]
  const says = (asked: Named): LotEvent | LotEvent[] =>
    asked.type === 'add' ? [{ type: 'LotAdded', id: asked.id }] : { type: 'BidMade', bid: asked.bid }

  it('a command needs no types: `decide` says which there are', () => {
    expect(startOf(defineService({ ...whole, streams: [infer({ ...stream, decide: says, commands })] }))).not.toThrow()
    const sell = command({ ...bidding, command: () => ({ type: 'sell' }) })
    infer({
      ...stream,
      decide: says,
      // @ts-expect-error -- no command of the type sell
      commands: [sell],
    })
  })

  it('a `decide` that does not say what it returns has events of any type, and the compiler says so', () => {
    const untold = (asked: Named) => (asked.type === 'add' ? { type: 'LotAdded', id: asked.id } : { type: 'BidMade' })
    const others = { evolve: (lot: Lot): Lot => lot, events: {}, commands }
    // @ts-expect-error -- Say behind its parameters what `decide` returns
    expect(infer({ ...stream, ...others, decide: untold })).toBeDefined()
  })
})
