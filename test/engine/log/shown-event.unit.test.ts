import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventExamples } from '../../../src/engine/definition/event-examples.ts'
import { shownEvent, shownEvents } from '../../../src/engine/log/shown-event.ts'
import { openServer, theatreServices } from '../http/test-services.ts'
import { theatre } from '../theatre/theatre.ts'

const names = ['idempotencykey', 'requestfingerprint']
const isShown = ([name]: [string, unknown]) => !names.includes(name)

describe('an event over HTTP has no hash of what its client sent', () => {
  it.each(eventExamples(theatre).map(({ name, payload }) => [name, payload] as const))('in %s', (_, payload) => {
    const shown = Object.fromEntries(Object.entries(payload).filter(isShown))
    expect(shownEvent(JSON.stringify(payload))).toBe(JSON.stringify(shown))
  })

  it.each([
    ['{"id":"1","idempotencykey":"a","requestfingerprint":"b"}', '{"id":"1"}'],
    ['{"idempotencykey":"a","id":"1"}', '{"id":"1"}'],
    ['{"idempotencykey":"a"}', '{}'],
    ['{"idempotencykey":"a","id":"1","idempotencykey":["}"]}', '{"id":"1"}'],
    ['{"idempotency\\u006bey":"a","id":"1"}', '{"id":"1"}'],
    ['{ "id" : "1" ,\r\n "idempotencykey" : {"a":[1,{}]} }', '{ "id" : "1" }'],
    ['{"data":{"name":"idempotencykey","idempotencykey":1}}', '{"data":{"name":"idempotencykey","idempotencykey":1}}'],
    ['{"id":"\\",\\"idempotencykey\\":\\"a","n":1.00}', '{"id":"\\",\\"idempotencykey\\":\\"a","n":1.00}'],
    ['{"n":9007199254740993,"idempotencykey":"a","m":1e2}', '{"n":9007199254740993,"m":1e2}'],
  ])('%s is %s', (json, shown) => {
    expect(shownEvent(json)).toBe(shown)
  })

  it('whatever else it has', () => {
    const member = fc.tuple(fc.oneof(fc.string(), fc.constantFrom(...names)), fc.jsonValue({ noUnicodeString: false }))
    const texts = fc.tuple(fc.array(member), fc.constantFrom(undefined, 2))
    fc.assert(
      fc.property(texts, ([members, space]) => {
        const event = Object.fromEntries(members.filter(([name]) => name !== '__proto__'))
        const shown = Object.fromEntries(Object.entries(event).filter(isShown))
        expect(JSON.parse(shownEvent(JSON.stringify(event, null, space)))).toEqual(JSON.parse(JSON.stringify(shown)))
      }),
    )
  })

  it('in the schemas of history and feed', async () => {
    const { app, get } = await openServer(theatreServices())
    const { components } = (await get('/openapi.json')).json()
    for (const name of names) expect(JSON.stringify(components)).not.toContain(name)
    await app.close()
  })
})

/** An event of a record as it stands in its data, and as it is told. */
const one = (n: number, data: string) => `{"id":"${n}","type":"theatre.Seat${n}.v1","data":${data}}`
const head = '{"specversion":"1.0",'
const severalOf = (events: string, more = '') =>
  `${head}"id":"r","type":"theatre.Several.v1","subject":"7"${more},"streamversion":3,"data":{"events":[${events}]}}`
const toldOf = (n: number, data: string, more = '') =>
  `${head}"id":"${n}","type":"theatre.Seat${n}.v1","subject":"7"${more},"streamversion":3,"streamindex":${n},"data":${data}}`

describe('what is told of a record', () => {
  it.each([
    [
      'two events',
      severalOf(`${one(0, '{}')},${one(1, '{"a":[1,{"b":2}]}')}`),
      [toldOf(0, '{}'), toldOf(1, '{"a":[1,{"b":2}]}')],
    ],
    [
      'numbers that a double cannot have',
      severalOf(`${one(0, '{"n":9007199254740993}')},${one(1, '{"n":1.00,"m":1e2}')}`),
      [toldOf(0, '{"n":9007199254740993}'), toldOf(1, '{"n":1.00,"m":1e2}')],
    ],
    [
      'attributes of other programs, to the byte',
      severalOf(`${one(0, '{}')},${one(1, '{}')}`, ',"sequence": {"a" : 1.0}'),
      [toldOf(0, '{}', ',"sequence": {"a" : 1.0}'), toldOf(1, '{}', ',"sequence": {"a" : 1.0}')],
    ],
    [
      'no hash of what its client sent',
      severalOf(`${one(0, '{}')},${one(1, '{}')}`, ',"idempotencykey":"a","requestfingerprint":"b"'),
      [toldOf(0, '{}'), toldOf(1, '{}')],
    ],
    [
      'a streamindex that the record has itself',
      severalOf(`${one(0, '{}')},${one(1, '{}')}`, ',"streamindex":9'),
      [toldOf(0, '{}'), toldOf(1, '{}')],
    ],
    [
      'data with the names of attributes in it',
      severalOf(`${one(0, '{"id":"x","streamversion":1,"idempotencykey":"k"}')},${one(1, '"}],"')}`),
      [toldOf(0, '{"id":"x","streamversion":1,"idempotencykey":"k"}'), toldOf(1, '"}],"')],
    ],
    [
      'names that are written with escapes, or twice',
      severalOf(`{"id":"x","i\\u0064":"0","type":"theatre.Seat0.v1","data":1,"d\\u0061ta":2},${one(1, '{}')}`).replace(
        '.Several.',
        '.S\\u0065veral.',
      ),
      [toldOf(0, '2').replace('"id"', '"i\\u0064"').replace('"data"', '"d\\u0061ta"'), toldOf(1, '{}')],
    ],
    [
      'spaces between its parts',
      severalOf(` ${one(0, ' {}')} ,\n${one(1, '{}')} `),
      [toldOf(0, ' {}'), toldOf(1, '{}')],
    ],
  ])('of several has %s', (_, json, told) => {
    expect(shownEvents(json)).toEqual(told)
    for (const text of told) expect(shownEvents(text)).toEqual([text])
  })

  it.each([
    `${head}"type":"theatre.SeatAdded.v1","data":{"type":"theatre.Several.v1","events":[{"id":"a"}]}}`,
    `${head}"type":"theatre.Several.v2","data":{"events":[{"id":"a"}]}}`,
    `${head}"type":"theatre.Seat\\u0041dded.v1","data":{"events":[]}}`,
  ])('of one is the record as it is shown: %s', (json) => {
    expect(shownEvents(json)).toEqual([shownEvent(json)])
  })

  it('is each event with all else of its record, whatever that is', () => {
    const rest = fc.dictionary(fc.string(), fc.jsonValue({ noUnicodeString: false }))
    const event = fc.record({ id: fc.string(), type: fc.string(), data: fc.jsonValue({ noUnicodeString: false }) })
    const events = fc.array(event, { minLength: 2, maxLength: 5 })
    fc.assert(
      fc.property(rest, events, fc.constantFrom(undefined, 2), (attributes, each, space) => {
        const { id: _, type: __, data: ___, ['__proto__']: ____, ...more } = attributes
        const record = { ...more, id: 'r', type: 'theatre.Several.v1', streamversion: 4, data: { events: each } }
        const { idempotencykey, requestfingerprint, ...common } = {
          idempotencykey: 1,
          requestfingerprint: 1,
          ...record,
        }
        const told = each.map((own, streamindex) => ({ ...common, ...own, streamindex }))
        const texts = shownEvents(JSON.stringify(record, null, space))
        expect(texts.map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(told)))
      }),
    )
  })
})
