import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { describeStats, statsSummary } from '../../../src/engine/cli/stats.ts'
import { define } from '../../../src/engine/definition/definition.ts'
import { command, defineService, exactJson, Int64Schema, stream } from '../../../src/engine/index.ts'
import { HttpClient } from '../../lib/http-client.ts'
import { runCommands } from '../../lib/run-commands.ts'
import { startHere } from '../../lib/start-here.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'
import { theatre } from '../theatre/theatre.ts'

const oneOf = (...values: string[]) => Type.Enum(values, { type: 'string', examples: values })
const [status, kind] = [oneOf('open', 'sold', 'total'), oneOf('open', 'painting')]

/** Sizes of sets by their names. */
const sizes = (known: Readonly<Record<string, number>>) => (set: string) => known[set] ?? 0

it('with one filter, its values stand beside the total', () => {
  const count = sizes({ seats: 5, 'seats:status:sold': 2, 'seats:status:available': 3, bookings: 2 })
  const { json, text } = describeStats(theatre.resources, count)
  expect(JSON.stringify(json)).toBe(
    '{"seats":{"total":5,"available":3,"pending":0,"sold":2},"bookings":{"total":2,"placed":0,"approved":0,"delivered":0,"cancelled":0}}',
  )
  expect(text.split('\n').slice(0, 5)).toEqual([
    '          STATUS     COUNT',
    'seats     total      5',
    'seats     available  3',
    'seats     pending    0',
    'seats     sold       2',
  ])
  expect(statsSummary(theatre.resources)).toBe('Show how many seats and bookings there are, by status')
})

it('without a filter there is the total alone', () => {
  const rooms = [{ collection: 'rooms' }]
  const { json, text } = describeStats(rooms, sizes({ rooms: 3 }))
  expect([json, text]).toEqual([{ rooms: { total: 3 } }, '              COUNT\nrooms  total  3'])
  expect(statsSummary(rooms)).toBe('Show how many rooms there are')
})

it('a value that is called total is not taken for the total', () => {
  const lots = [{ collection: 'lots', filters: { status } }]
  const { json } = describeStats(lots, sizes({ lots: 3, 'lots:status:total': 1, 'lots:status:sold': 2 }))
  expect(json).toEqual({ lots: { total: 3, by: { status: { open: 0, sold: 2, total: 1 } } } })
})

it('each filter of several collections is named', () => {
  const resources = [
    { collection: 'lots', filters: { kind } },
    { collection: 'bids', filters: { status: oneOf('high', 'low') } },
  ]
  const { json, text } = describeStats(
    resources,
    sizes({ lots: 1, bids: 2, 'lots:kind:open': 1, 'bids:status:low': 2 }),
  )
  expect(json).toEqual({ lots: { total: 1, open: 1, painting: 0 }, bids: { total: 2, high: 0, low: 2 } })
  expect(text).toMatch(/^ +FILTER +VALUE +COUNT\nlots +total +1\nlots +kind +open +1\n/)
  expect(statsSummary(resources)).toBe('Show how many lots and bids there are, by kind and status')
})

it('an index of any value is told by its entries, and is nothing that documents are counted by', () => {
  const indexed = {
    status: oneOf('high', 'low'),
    sellerId: Int64Schema({ description: 'Who sells' }),
    title: Type.String(),
  }
  const resources = [
    { collection: 'lots', filters: indexed },
    { collection: 'bids', filters: { status: oneOf('high', 'low') } },
  ]
  const { json, text } = describeStats(
    resources,
    sizes({ lots: 3, bids: 1, 'lots:status:low': 3, 'lots:sellerId=': 3, 'lots:title=': 2, 'bids:status:high': 1 }),
  )
  expect(json).toEqual({
    lots: { total: 3, high: 0, low: 3, indexes: { sellerId: 3, title: 2 } },
    bids: { total: 1, high: 1, low: 0 },
  })
  expect(text.split('\n')).toEqual([
    '      STATUS  COUNT',
    'lots  total   3',
    'lots  high    0',
    'lots  low     3',
    'bids  total   1',
    'bids  high    1',
    'bids  low     0',
    '',
    '      INDEX     ENTRIES',
    'lots  sellerId  3',
    'lots  title     2',
  ])
  expect(statsSummary(resources)).toBe('Show how many lots and bids there are, by status')
})

it('a value that is called indexes is not taken for them', () => {
  const filters = { status: oneOf('indexes'), title: Type.String() }
  const { json } = describeStats([{ collection: 'lots', filters }], sizes({ lots: 1, 'lots:status:indexes': 1 }))
  expect(json).toEqual({ lots: { total: 1, by: { status: { indexes: 1 } }, indexes: { title: 0 } } })
})

type Lot = { readonly id: number } | undefined

/** Lots with two filters, of which each has a value of the other one. */
const auction = defineService({
  ...{ name: 'auction', title: 'Auction', version: '1.0.0', description: 'Lots that are sold.' },
  streams: [
    stream({
      collection: 'lots',
      source: '/v1/lots',
      initial: undefined as Lot,
      decide: ({ id }: { readonly id: number }) => ({ type: 'LotAdded' as const, id }),
      evolve: (_, { event: { id } }) => ({ id }),
      events: {
        LotAdded: {
          version: 1,
          description: 'A lot was added',
          data: Type.Object({ id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [7] }) }),
          examples: [{ name: 'lotAdded', summary: 'Lot 7', stream: 7, version: 1, event: { type: 'LotAdded', id: 7 } }],
        },
      },
      projections: [
        {
          name: 'lots',
          version: 1,
          documents: (lot) => {
            if (lot === undefined) return []
            return [
              { collection: 'lots', id: lot.id, json: exactJson(lot), filters: { status: 'open', kind: 'painting' } },
            ]
          },
        },
      ],
      commands: [
        command({
          ...{
            method: 'POST',
            path: '/v1/lots',
            scope: 'write',
            texts: { operationId: 'addLot', summary: 'Add a lot' },
          },
          body: Type.Object({}, { title: 'LotInput' }),
          ...{ on: 'new', creates: 'lots', rejects: {} },
          command: ({ id }) => ({ id }),
        }),
      ],
    }),
  ],
  resources: {
    lots: {
      ...{ path: '/v1/lots', noun: 'lot', tag: { name: 'lots', description: 'What is sold' } },
      schema: Type.Object({ id: Type.Integer() }, { title: 'Lot' }),
      example: { id: 7 },
      filters: { status, kind },
      list: { operationId: 'listLots', summary: 'List lots' },
      find: { operationId: 'getLot', summary: 'Get a lot' },
      history: { operationId: 'listLotEvents', summary: 'List the events of a lot' },
    },
  },
  errors: {},
})

it('stats of a service with two filters are those of each, and a page is of one', async () => {
  const definition = define(auction.service)
  const environment = { DATA_DIR: temporaryFolder() }
  const client = new HttpClient(await startHere(definition, environment))
  for (const _ of [1, 2]) expect((await client.send('POST', '/v1/lots', {}, { prefer: 'wait=10' })).status).toBe(201)
  const { output } = await runCommands(definition, environment, 'stats --json')
  expect(JSON.parse(output)).toEqual({
    lots: { total: 2, by: { status: { open: 2, sold: 0, total: 0 }, kind: { open: 0, painting: 2 } } },
  })
  const told = (await runCommands(definition, environment, 'stats')).output
  expect(told.split('\n').slice(0, 3)).toEqual([
    '      FILTER  VALUE     COUNT',
    'lots          total     2',
    'lots  status  open      2',
  ])
  for (const [query, length] of [
    ['status=open', 2],
    ['kind=open', 0],
    ['kind=painting', 2],
  ] as const)
    expect(await client.request(`/v1/lots?${query}`)).toMatchObject({ body: { length } })
})
