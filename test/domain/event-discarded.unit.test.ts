import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { EventDiscardedSchema, eventDiscardedRecord } from '../../src/domain/event-discarded.ts'
import { decodePetEvent } from '../../src/domain/pet-created.ts'
import { readCloudEvent } from '../../src/event-log/cloud-event.ts'
import { compileCheck } from '../../src/lib/validation.ts'

function readPublished(name: string): string {
  return readFileSync(new URL(`../../docs/events/${name}`, import.meta.url), 'utf8')
}

function decode(value: string) {
  const envelope = readCloudEvent(Buffer.from(value))
  if (envelope === undefined) throw new Error('no envelope')
  return decodePetEvent(envelope)
}

const golden = readPublished('petstore.EventDiscarded.v1.example.json')

describe('EventDiscarded', () => {
  it('version 1 is read as it was published', () => {
    expect(decode(golden)).toEqual({ outcome: 'discard', offset: 1234 })
  })

  it('is written as it was published, but for its id', () => {
    const { key, value, headers } = eventDiscardedRecord(
      { subject: '42', offset: 1234 },
      new Date('2026-11-21T12:00:00Z'),
    )
    const { id, ...rest } = JSON.parse(value)
    const { id: _, ...published } = JSON.parse(golden)
    expect([key, rest, typeof id]).toEqual(['42', published, 'string'])
    expect(headers).toEqual({ 'content-type': 'application/cloudevents+json' })
  })

  it('has the published schema, which the example fits', () => {
    const { $schema, ...schema } = JSON.parse(readPublished('petstore.EventDiscarded.v1.schema.json'))
    expect($schema).toBe('https://json-schema.org/draft/2020-12/schema')
    expect(JSON.parse(JSON.stringify(EventDiscardedSchema))).toEqual(schema)
    expect(compileCheck(EventDiscardedSchema)(JSON.parse(golden))).toBeUndefined()
  })

  it('of another version is unreadable', () => {
    const reason = 'version 2 of EventDiscarded is not known'
    expect(decode(golden.replace('EventDiscarded.v1', 'EventDiscarded.v2'))).toEqual({ outcome: 'unreadable', reason })
  })

  it.each([undefined, {}, { offset: -1 }, { offset: 1.5 }, { offset: '1' }])(
    'with the data %j is unreadable',
    (data) => {
      const event = { ...JSON.parse(golden), data }
      expect(decode(JSON.stringify(event))).toMatchObject({ outcome: 'unreadable' })
    },
  )
})
