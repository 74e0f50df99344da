import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCloudEvent } from '../../src/event-log/cloud-event.ts'
import { parseExactJson } from '../../src/lib/exact-json.ts'
import { edited } from '../lib/edited-text.ts'

const read = ['id', 'type', 'source', 'subject', 'idempotencykey', 'requestfingerprint', 'data'] as const
const published = ['petstore.PetCreated.v1', 'petstore.PetCreated.v1.idempotent'].map((name) =>
  readFileSync(new URL(`../../docs/events/${name}.example.json`, import.meta.url), 'utf8').trim(),
)

/** What the text says, taken apart by JSON's rules alone; undefined where that is no CloudEvent. */
function expected(text: string): Record<string, unknown> | undefined {
  try {
    const event = parseExactJson(text) as Record<string, unknown>
    const names = [event.id, event.type, event.source, 'subject' in event ? event.subject : 'none']
    const isEvent = event.specversion === '1.0' && names.every((name) => typeof name === 'string' && name !== '')
    return isEvent ? attributesOf(event) : undefined
  } catch {
    return undefined
  }
}

function attributesOf(event: object): Record<string, unknown> {
  return Object.fromEntries(read.map((name) => [name, (event as Record<string, unknown>)[name]]))
}

function found(text: string): Record<string, unknown> | undefined {
  const event = readCloudEvent(Buffer.from(text))
  return event && attributesOf(event)
}

describe('readCloudEvent', () => {
  const name = fc.constantFrom('', 'a', 'a-1', '/v1/pets', 'with "quotes"', 'line\nbreak', 'Zoë 🐕', 'back\\slash')
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
    pair('data', data),
    pair('data', data),
    pair('more', data),
    pair('id', text),
  ].map((member) => fc.option(member, { nil: undefined, freq: 1 }))

  it('takes an event apart as JSON does, in the form of this service and in any other', () => {
    const event = fc.tuple(...always, ...sometimes).map((members) => `{${members.filter(Boolean).join(',')}}`)
    fc.assert(
      fc.property(event, (written) => {
        expect(found(written)).toEqual(expected(written))
      }),
      { numRuns: 3000 },
    )
  })

  it('takes what was nearly written by this service for what it is', () => {
    fc.assert(
      fc.property(edited(fc.constantFrom(...published), ['},"data":{', ',"id":"b"']), (text) => {
        expect(found(text)).toEqual(expected(text))
      }),
      { numRuns: 3000 },
    )
  })

  it('takes an event of this service apart no further than its data, which is quicker', () => {
    for (const event of published) expect(readCloudEvent(Buffer.from(event))).not.toHaveProperty('time')
  })
})
