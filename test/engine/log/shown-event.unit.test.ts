import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventExamples } from '../../../src/engine/definition/event-examples.ts'
import { shownEvent } from '../../../src/engine/log/shown-event.ts'
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

  it('in the history, in the feed, and in their schemas', async () => {
    const { app, get, services } = await openServer(theatreServices())
    const json = '{"type":"theatre.SeatAdded.v1","idempotencykey":"a","requestfingerprint":"b"}'
    const type = 'theatre.SeatAdded.v1'
    services.feed.history = async () => ({ events: [json, json], last: undefined, isKnown: true, reached: [] })
    services.steps = async function* () {
      yield { events: [{ stream: '1', type, json }], after: [] }
    }
    expect((await get('/v1/seats/1/events')).json()).toEqual([{ type }, { type }])
    expect((await get('/v1/events')).body).toContain(`data: {"type":"${type}"}\n\n`)
    const { components } = (await get('/openapi.json')).json()
    for (const name of names) expect(JSON.stringify(components)).not.toContain(name)
    await app.close()
  })
})
