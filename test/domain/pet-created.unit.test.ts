import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventIdOf, requestIdentity } from '../../src/command-handling/request-identity.ts'
import { type Pet, type PetId, petDocument, WrittenPet } from '../../src/domain/pet.ts'
import { decodePetEvent, PetCreatedSchema, petCreatedRecord } from '../../src/domain/pet-created.ts'
import { cloudEventMediaType, readCloudEvent } from '../../src/event-log/cloud-event.ts'
import { parseExactJson } from '../../src/lib/exact-json.ts'
import { compileCheck } from '../../src/lib/validation.ts'
import { anyPet } from './any-pet.ts'

const golden = readPublished('petstore.PetCreated.v1.example.json')
const goldenPet: Pet = { id: 42 as PetId, name: 'Rex "the 🐕"', categoryId: 9007199254740993n, status: 'pending' }

function readPublished(name: string): string {
  return readFileSync(new URL(`../../docs/events/${name}`, import.meta.url), 'utf8')
}

function decode(value: string) {
  const envelope = readCloudEvent(Buffer.from(value), (text) => WrittenPet.in(text))
  if (envelope === undefined) throw new Error('no envelope')
  return decodePetEvent(envelope)
}

describe('PetCreated', () => {
  it('version 1 is read as it was published: a log is kept for ever', () => {
    expect(decode(golden)).toEqual({ outcome: 'event', event: { type: 'PetCreated', pet: goldenPet } })
  })

  it('is written as it was published', () => {
    const context = {
      eventId: '019e0000-0000-7000-8000-000000000042',
      time: new Date('2026-11-20T12:00:00Z'),
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    }
    const { key, value, headers } = petCreatedRecord(goldenPet, context)
    expect({ key, value, headers }).toEqual({
      key: '42',
      value: golden.trim(),
      headers: { 'content-type': cloudEventMediaType },
    })
  })

  it('of a request with an Idempotency-Key is read and written as it was published', () => {
    const published = readPublished('petstore.PetCreated.v1.idempotent.example.json')
    const zoe: Pet = { id: 43 as PetId, name: 'Zoë', categoryId: 7, status: 'available' }
    const identity = requestIdentity('key-1', 'order 7', zoe)
    const context = { eventId: eventIdOf(identity), time: new Date('2026-11-21T12:00:00Z'), identity }
    expect(petCreatedRecord(zoe, context).value).toBe(published.trim())
    expect(decode(published)).toEqual({ outcome: 'event', event: { type: 'PetCreated', pet: zoe } })
    expect(readCloudEvent(Buffer.from(published))).toMatchObject({
      idempotencykey: identity.key,
      requestfingerprint: identity.fingerprint,
    })
    expect(compileCheck(PetCreatedSchema)(JSON.parse(published))).toBeUndefined()
  })

  it('has the published schema', () => {
    const published = JSON.parse(readPublished('petstore.PetCreated.v1.schema.json'))
    const { $schema, ...schema } = published
    expect($schema).toBe('https://json-schema.org/draft/2020-12/schema')
    expect(JSON.parse(JSON.stringify(PetCreatedSchema))).toEqual(schema)
  })

  it('gives back any pet exactly, in a record that fits the schema', () => {
    const check = compileCheck(PetCreatedSchema)
    fc.assert(
      fc.property(anyPet, (created) => {
        const { value } = petCreatedRecord(created, { eventId: 'e', time: new Date(0) })
        expect(decode(value)).toEqual({ outcome: 'event', event: { type: 'PetCreated', pet: created } })
        expect(check(parseExactJson(value))).toBeUndefined()
        expect(value).toContain(petDocument(created))
      }),
    )
  })
})
