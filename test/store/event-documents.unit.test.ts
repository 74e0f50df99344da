import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { asyncApiDocument } from '../../src/engine/definition/asyncapi.ts'
import { withoutRules } from '../../src/engine/definition/event-schemas.ts'
import { compileCheck } from '../../src/engine/lib/values/validation.ts'
import { eventDocuments } from './event-documents.ts'
import { eventSchemas, petstore, schemaOf } from './petstore.ts'

const definition = petstore
const docs = new URL('../../docs/', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, docs), 'utf8')
const document = asyncApiDocument(definition, 'petstore.pets')
const messages = Object.entries(document.components.messages)
const tables = messages.filter(([id]) => id.startsWith('documents.'))
const events = messages.filter((each) => !tables.includes(each))

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
  const official = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.1.0-without-$id.json')
  const isValid = new Ajv({ strict: false, validateFormats: false }).compile(official)

  it.each(['petstore.pets', null])('is AsyncAPI 3.1 where the topic is %s', (topic) => {
    const { channels } = asyncApiDocument(definition, topic)
    isValid(asyncApiDocument(definition, topic))
    expect(isValid.errors).toBeNull()
    expect(Object.entries(channels).map(([name, { address }]) => [name, address])).toEqual([
      ['published', topic && `${topic}.published`],
      ['documents.pets', topic && `${topic}.documents.pets`],
      ['documents.orders', topic && `${topic}.documents.orders`],
      ['documents.categories', topic && `${topic}.documents.categories`],
      ['journal', topic],
    ])
  })

  it('would be refused with an operation of AsyncAPI 2', () => {
    const publishEvents = { ...document.operations.publishEvents, action: 'publish' }
    expect(isValid({ ...document, operations: { publishEvents } })).toBe(false)
  })

  it('refers only to what is there', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path)
    expect(references.length).toBeGreaterThan(12)
    for (const path of references) {
      const found = path.split('/').reduce<unknown>((node, name) => (node as Record<string, unknown>)?.[name], document)
      expect(found, path).toBeDefined()
    }
  })

  it.each(events)(
    '%s has a key, headers and examples that fit',
    (id, { name, payload, headers, bindings, examples }) => {
      const inJournal = id === name ? '' : 'Journal'
      expect(payload).toEqual({
        $ref: `#/components/schemas/${inJournal}${name.replace('petstore.', '').replace('.v1', '').replace('.v', 'V')}`,
      })
      const key = new RegExp(bindings.kafka.key.pattern)
      expect(examples.length).toBeGreaterThan(0)
      for (const example of examples) {
        expect(compileCheck(schemaOf(name))(example.payload)).toBeUndefined()
        expect(example.payload).toMatchObject({ subject: expect.stringMatching(key) })
        expect(example.headers).toEqual({ 'content-type': headers.properties['content-type'].const })
      }
    },
  )

  /** Whether a record is as its message says. */
  const checkOf = ({ headers, payload }: (typeof messages)[number][1]) => {
    const schema = { type: 'object', properties: { headers, payload }, components: document.components }
    const check = new Ajv2020({ strict: false, validateFormats: false }).compile(schema)
    return (record: { readonly headers: object; readonly payload: unknown }) => check(record)
  }

  it.each(tables)('%s has a key, headers and examples that fit', (id, message) => {
    const [, collection = '', kind] = id.split('.')
    const { noun, schema, example } = Object(petstore.service.resources)[collection]
    const described = kind === 'document' ? { $ref: `#/components/schemas/${schema.title}` } : { type: 'null' }
    expect(message).toMatchObject({ name: `${noun}.${kind}`, payload: described })
    const isOfCategory = collection === 'categories'
    const { description, pattern } = message.bindings.kafka.key
    expect(description).toBe(isOfCategory ? '`categories/` and the category id' : `The ${noun} id in decimal`)
    expect([`categories/${example.id}`, `${example.id}`].map((key) => new RegExp(pattern).test(key))).toEqual([
      isOfCategory,
      !isOfCategory,
    ])
    expect(message.examples).toHaveLength(1)
    const { headers = {}, payload } = message.examples[0] ?? {}
    expect(payload).toEqual(kind === 'document' ? example : null)
    const isRecord = checkOf(message)
    expect(isRecord({ headers, payload })).toBe(true)
    for (const wrong of [
      { streamversion: '0' },
      { stream: 'pets/1' },
      { stream: 'categories/01' },
      ...(isOfCategory ? [{ stream: '1' }] : []),
      { 'content-type': 'none' },
    ])
      expect(isRecord({ headers: { ...headers, ...wrong }, payload }), JSON.stringify(wrong)).toBe(false)
    expect(isRecord({ headers: { 'content-type': 'application/json' }, payload })).toBe(false)
    expect(isRecord({ headers, payload: kind === 'document' ? null : example })).toBe(false)
  })

  it('has the schemas of documents that OpenAPI has, under their names', () => {
    const openApi = JSON.parse(read('openapi.json')).components.schemas
    const { schemas } = document.components
    for (const name of ['Pet', 'PetStatus', 'Order', 'OrderStatus', 'Category'])
      expect(schemas[name], name).toEqual(withoutRules(openApi[name]))
  })

  it('says of each topic of documents how it is kept, and of each other one', () => {
    const kept = (of: (typeof document.channels)[string]) => of.bindings.kafka.topicConfiguration
    const { published, journal, ...rest } = document.channels
    const events = { 'cleanup.policy': ['delete'], 'retention.ms': -1, 'retention.bytes': -1 }
    expect([kept(published), kept(journal)]).toEqual([events, events])
    const compact = {
      'cleanup.policy': ['compact'],
      'delete.retention.ms': 604_800_000,
      'max.message.bytes': 2_097_152,
    }
    expect(Object.values(rest).map(kept)).toEqual([compact, compact, compact])
  })

  const secret = /idempotencykey|requestfingerprint/
  /** Everything that a channel says of its messages, by their types. */
  const toldOf = (channel: 'published' | 'journal') =>
    Object.entries(document.channels[channel].messages).map(([type, { $ref }]) => {
      const message = document.components.messages[$ref.split('/').at(-1) ?? '']
      const schema = document.components.schemas[message?.payload.$ref?.split('/').at(-1) ?? '']
      return [type, JSON.stringify([message, schema])] as const
    })

  it('has every type in the journal, and in the published topic those that take effect, without secrets', () => {
    const types = Object.keys(eventSchemas)
    expect(toldOf('journal').map(([type]) => type)).toEqual(types)
    expect(toldOf('published').map(([type]) => type)).toEqual(
      types.filter((type) => !/EventDiscarded|Several/.test(type)),
    )
    expect(toldOf('published').filter(([, text]) => secret.test(text))).toEqual([])
    expect(toldOf('journal').filter(([, text]) => secret.test(text)).length).toBeGreaterThan(1)
  })

  it('tells the rule of docs/journal.md, of the journal alone', () => {
    const [, section = ''] = read('journal.md').split('## The rule\n')
    const rule = section.slice(0, section.indexOf('\n## ')).trim()
    expect(rule).toMatch(/^Read each partition in order/)
    expect(document.channels.journal.description.endsWith(rule)).toBe(true)
    expect(JSON.stringify([document.info, document.channels.published])).not.toContain('Ignore')
  })
})
