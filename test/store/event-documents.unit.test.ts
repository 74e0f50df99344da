import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { asyncApiDocument } from '../../src/engine/definition/asyncapi.ts'
import { compileCheck } from '../../src/engine/lib/values/validation.ts'
import { eventDocuments } from './event-documents.ts'
import { eventSchemas, petstore, schemaOf } from './petstore.ts'

const definition = petstore
const docs = new URL('../../docs/', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, docs), 'utf8')
const document = asyncApiDocument(definition, 'petstore.pets')
const messages = Object.entries(document.components.messages)

describe('docs/', () => {
  it.each([...eventDocuments])('%s is up to date: else run `npm run schemas`', (path, text) => {
    expect(read(path)).toBe(text)
  })

  it.each(Object.keys(eventSchemas))('%s has a schema that is valid, and says what it is', (type) => {
    const schema = JSON.parse(read(`events/${type}.schema.json`))
    const ajv = new Ajv2020({ validateFormats: false })
    expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true)
    expect(schema).toMatchObject({ title: type, properties: { type: { const: type } } })
    expect(JSON.stringify(schema)).not.toContain('x-rule')
    expect(ajv.validateSchema({ ...schema, required: 'all' })).toBe(false)
  })

  it('has no schema of an event that is gone', () => {
    const found = readdirSync(new URL('events/', docs)).filter((name) => name.endsWith('.schema.json'))
    expect(found.toSorted()).toEqual(
      Object.keys(eventSchemas)
        .map((type) => `${type}.schema.json`)
        .toSorted(),
    )
  })
})

describe('the AsyncAPI document', () => {
  const official = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0-without-$id.json')
  const isValid = new Ajv({ strict: false, validateFormats: false }).compile(official)

  it.each(['petstore.pets', null])('is AsyncAPI 3 where the topic is %s', (topic) => {
    isValid(asyncApiDocument(definition, topic))
    expect(isValid.errors).toBeNull()
    expect(asyncApiDocument(definition, topic).channels.pets?.address).toBe(topic)
  })

  it('would be refused with an operation of AsyncAPI 2', () => {
    const sendEvents = { ...document.operations.sendEvents, action: 'publish' }
    expect(isValid({ ...document, operations: { sendEvents } })).toBe(false)
  })

  it('refers only to what is there', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path)
    expect(references.length).toBeGreaterThan(12)
    for (const path of references) {
      const found = path.split('/').reduce<unknown>((node, name) => (node as Record<string, unknown>)?.[name], document)
      expect(found, path).toBeDefined()
    }
  })

  it.each(messages)('%s has a key, headers and examples that fit', (type, { payload, headers, bindings, examples }) => {
    expect(payload).toEqual({
      $ref: `#/components/schemas/${type.replace('petstore.', '').replace('.v1', '').replace('.v', 'V')}`,
    })
    const key = new RegExp(bindings.kafka.key.pattern)
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples) {
      expect(compileCheck(schemaOf(type))(example.payload)).toBeUndefined()
      expect(example.payload).toMatchObject({ subject: expect.stringMatching(key) })
      expect(example.headers).toEqual({ 'content-type': headers.properties['content-type'].const })
    }
  })

  it('tells consumers the rule of docs/events.md', () => {
    const [, section = ''] = read('events.md').split('## The rule for consumers\n')
    const rule = section.slice(0, section.indexOf('\n## ')).trim()
    expect(rule).toMatch(/^Read each partition in order/)
    expect(document.info.description.endsWith(rule)).toBe(true)
  })
})
