import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventExamples } from '../../../src/engine/definition/event-examples.ts'
import { parseExactJson } from '../../../src/engine/lib/values/exact-json.ts'
import { readCloudEvent, recordValueMax } from '../../../src/engine/log/record-codec.ts'
import { edited } from '../../lib/edited-text.ts'
import { theatre } from '../theatre/theatre.ts'

const read = 'id type source subject time idempotencykey requestfingerprint streamversion data'.split(' ')
const published = eventExamples(theatre).map(({ payload }) => JSON.stringify(payload))

/** What the text says, taken apart by JSON's rules alone; undefined where that is no CloudEvent. */
function expected(text: string): Record<string, unknown> | undefined {
  try {
    const event = parseExactJson(text) as Record<string, unknown>
    const names = [event.id, event.type, event.source, 'subject' in event ? event.subject : 'none']
    const isEvent = event.specversion === '1.0' && names.every((name) => typeof name === 'string' && name !== '')
    if (!isEvent) return undefined
    return attributesOf({ ...event, time: typeof event.time === 'string' ? event.time : undefined })
  } catch {
    return undefined
  }
}

function attributesOf(event: object): Record<string, unknown> {
  return Object.fromEntries(read.map((name) => [name, (event as Record<string, unknown>)[name]]))
}

function isReadAsExpected(text: string): void {
  const event = readCloudEvent(Buffer.from(text))
  expect(event && attributesOf(event)).toEqual(expected(text))
}

describe('readCloudEvent', () => {
  const name = fc.constantFrom('', 'a', 'a-1', '/v1/seats', 'with "quotes"', 'line\nbreak', 'Zoë 🐕', 'back\\slash')
  const data = fc.oneof(fc.json(), fc.constantFrom('{"id":9007199254740993}', '{"a":{"b":1}}', '{}', '7', '[{}]'))
  const text = name.map((value) => JSON.stringify(value))
  const pair = (key: string, value: fc.Arbitrary<string>) => value.map((written) => `"${key}":${written}`)
  const always = [
    pair('specversion', fc.constantFrom('"1.0"', '"1.0"', '"1.0"', '"0.3"', '1.0')),
    pair('id', text),
    pair('type', text),
    pair('source', text),
    pair('subject', text),
    pair('time', text),
    pair('datacontenttype', fc.constant('"application/json"')),
  ]
  const sometimes = [
    pair('traceparent', text),
    fc.tuple(pair('idempotencykey', text), pair('requestfingerprint', text)).map((pairs) => pairs.join(',')),
    pair('streamversion', fc.constantFrom('1', '2', '0', '-1', '1.0', '"1"', '900719925474099300', '1e3')),
    pair('data', data),
    pair('data', data),
    pair('more', data),
    pair('id', text),
  ].map((member) => fc.option(member, { nil: undefined, freq: 1 }))

  it('takes an event apart as JSON does, in the form of this service and in any other', () => {
    const event = fc.tuple(...always, ...sometimes).map((members) => `{${members.filter(Boolean).join(',')}}`)
    fc.assert(fc.property(event, isReadAsExpected), { numRuns: 3000 })
  })

  it('reads events that differ slightly from the form of this service correctly', () => {
    const nearly = edited(fc.constantFrom(...published), ['},"data":{', ',"id":"b"'])
    fc.assert(fc.property(nearly, isReadAsExpected), { numRuns: 3000 })
  })

  it('takes no value longer than the longest that is looked at', () => {
    const event = Buffer.from(published[0] ?? '')
    const padded = (length: number) => Buffer.concat([event, Buffer.alloc(length - event.length, ' ')])
    expect(readCloudEvent(padded(recordValueMax))).toBeDefined()
    expect(readCloudEvent(padded(recordValueMax + 1))).toBeUndefined()
  })
})
