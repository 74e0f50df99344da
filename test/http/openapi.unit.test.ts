import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, describe, expect, it } from 'vitest'
import { orderStatuses } from '../../src/domain/order.ts'
import { petStatuses } from '../../src/domain/pet.ts'
import { errorFacts } from '../../src/lib/errors.ts'
import { authorization, FakeServices, openApp } from './fake-services.ts'

const execute = promisify(execFile)

interface Schema {
  readonly [keyword: string]: unknown
}
interface Response {
  readonly description: string
  readonly headers?: Record<string, { schema: Schema; description: string }>
  readonly content?: Record<string, { schema: Schema; example?: unknown }>
}
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly 'x-stability'?: string
  readonly tags: string[]
  readonly security: object[]
  readonly deprecated?: boolean
  readonly parameters?: { name: string; in: string; description?: string; required: boolean; schema: Schema }[]
  readonly requestBody?: { required: boolean; content: Record<string, { schema: Schema }> }
  readonly responses: Record<string, Response>
}

const app = await openApp(new FakeServices())
afterAll(() => app.close())
const answer = await app.inject('/openapi.json')
const document = answer.json()
const paths: [string, Record<string, Operation>][] = Object.entries(document.paths)
const operations = paths.flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, at: `${method} ${path}` })),
)
const each = operations.map((operation) => [operation.operationId, operation] as const)
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })

it('is OpenAPI 3.1 of version 1.0.0 under /v1, served as JSON without a key', () => {
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' }, servers: [{ url: '/v1' }] })
  expect(document.tags).toMatchObject([{ name: 'animals' }, { name: 'store' }, { name: 'events' }])
})

it('stands beside the AsyncAPI document of the topic, served as JSON without a key', async () => {
  const { statusCode, headers, body } = await app.inject('/asyncapi.json')
  expect([statusCode, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  expect(JSON.parse(body)).toEqual(JSON.parse(readFileSync('docs/asyncapi.json', 'utf8')))
})

it('names licence and contact, and its server by PUBLIC_URL', async () => {
  expect(document.info).toMatchObject({ license: { identifier: 'MIT' }, contact: { url: '/docs' } })
  const publicUrl = 'https://petstore.example/shop'
  const published = await openApp(new FakeServices(), { publicUrl })
  const { servers, info } = (await published.inject('/openapi.json')).json()
  expect([servers, info.contact.url]).toEqual([[{ url: `${publicUrl}/v1` }], `${publicUrl}/docs`])
  await published.close()
})

it('is valid, by a validator of the specification', async () => {
  expect(await new Validator().validate(document)).toMatchObject({ valid: true })
})

it('has no flaw, by the strict rules of a linter', { timeout: 60_000 }, async () => {
  const linter = fileURLToPath(new URL('../../node_modules/@redocly/cli/bin/cli.js', import.meta.url))
  const copy = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url))
  const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const lint = execute(process.execPath, [linter, 'lint', copy, '--extends', 'recommended-strict'], { env })
  expect((await lint).stderr).toContain('Your API description is valid')
})

it('is the copy in docs/openapi.json (npm run schemas writes it)', () => {
  const copy = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'))
  expect(copy).toEqual(document)
})

it('describes every parameter, and proposes no value for an optional header', () => {
  for (const { parameters = [] } of operations) {
    for (const { name, in: place, description, ...parameter } of parameters) {
      expect([name, description]).toEqual([name, expect.stringMatching(/\w/)])
      if (place === 'header') expect(JSON.stringify(parameter)).not.toMatch(/example|default/)
    }
  }
})

it('has the operations of the specification, those of orders and events in beta, and no other', () => {
  const found = operations.map(({ at, operationId, tags, 'x-stability': stability }) => [
    at,
    operationId,
    tags,
    stability,
  ])
  expect(found).toEqual([
    ['get /pets', 'listPets', ['animals'], undefined],
    ['post /pets', 'createPet', ['animals'], undefined],
    ['get /pets/{petId}', 'getPet', ['animals'], undefined],
    ['get /store/orders', 'listOrders', ['store'], 'beta'],
    ['post /store/orders', 'placeOrder', ['store'], 'beta'],
    ['get /store/orders/{orderId}', 'getOrder', ['store'], 'beta'],
    ['patch /store/orders/{orderId}', 'updateOrder', ['store'], 'beta'],
    ['get /pets/{petId}/events', 'listPetEvents', ['events'], 'beta'],
    ['get /events', 'followEvents', ['events'], 'beta'],
  ])
  for (const { summary, tags } of operations) expect(summary.endsWith(' (beta)')).toBe(tags[0] !== 'animals')
})

it('protects each by the bearer scheme, and marks getPet alone as deprecated', () => {
  expect(document.components.securitySchemes.apiKey).toMatchObject({ type: 'http', scheme: 'bearer' })
  for (const { security } of operations) expect(security).toEqual([{ apiKey: [] }])
  expect(each.flatMap(([id, { deprecated }]) => (deprecated ? [id] : []))).toEqual(['getPet'])
})

it('has no dangling references', () => {
  const references = JSON.stringify(document).match(/"\$ref":"[^"]+"/g) ?? []
  expect(references.length).toBeGreaterThan(20)
  for (const text of references) {
    const [, ...path] = JSON.parse(`{${text}}`).$ref.split('/')
    expect(path.reduce((node: Record<string, unknown>, name: string) => node[name] as never, document)).toBeDefined()
  }
})

it('has schemas with the fields of the specification and the design', () => {
  const { schemas } = document.components
  const { Pet, NewPet, Order } = schemas
  const int64 = { type: 'integer', format: 'int64' }
  const time = { type: 'string', format: 'date-time' }
  const name = { type: 'string', minLength: 1, maxLength: 128 }
  const newPet = { name, categoryId: int64, status: reference('PetStatus') }
  const order = { id: int64, petId: int64, status: reference('OrderStatus'), placedAt: time, updatedAt: time }
  const error = { code: { type: 'string' }, message: { type: 'string' }, status: { type: 'integer' } }
  const open = { type: 'object' }
  const closed = { type: 'object', additionalProperties: false }
  expect(schemas).toMatchObject({
    Pet: { ...open, required: ['id', 'name', 'categoryId', 'status'], properties: { id: int64, ...newPet } },
    NewPet: { ...closed, required: ['name', 'categoryId'], properties: newPet },
    Pets: { type: 'array', items: reference('Pet') },
    PetStatus: { type: 'string', enum: [...petStatuses] },
    Order: { ...open, required: Object.keys(order), properties: order },
    NewOrder: { ...closed, required: ['petId'], properties: { petId: int64 } },
    OrderChange: { ...closed, required: ['status'], properties: { status: reference('OrderStatus') } },
    Orders: { type: 'array', items: reference('Order') },
    OrderStatus: { type: 'string', enum: [...orderStatuses] },
    Error: { ...open, required: ['code', 'message', 'status'], properties: error },
  })
  // A client must accept members that a later release adds.
  for (const answered of [Pet, Order, schemas.Error]) expect(answered).not.toHaveProperty('additionalProperties')
  expect(schemas.Error.properties.code.enum).toEqual(Object.keys(errorFacts))
  const names = 'Pet NewPet Pets PetStatus Order NewOrder OrderChange Orders OrderStatus PetEvent PetEvents Error'
  expect(Object.keys(schemas)).toEqual(names.split(' '))
  expect(Pet.properties).toEqual({ ...NewPet.properties, id: Pet.properties.id })
  expect(Object.keys(Order.properties)).toEqual(Object.keys(order))
})

it('is answered in JSON whatever Accept says, as RFC 9110 section 12.5.1 allows', async () => {
  for (const accept of ['text/html', 'application/json;q=0', 'rubbish']) {
    const { statusCode, headers } = await app.inject({ url: '/v1/pets', headers: { authorization, accept } })
    expect([statusCode, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  }
})

describe('the requests', () => {
  const limit = { type: 'integer', minimum: 1, maximum: 100, default: 20 }
  const id = { type: 'integer', format: 'int64' }
  const list = (status: string) => ({ limit, status: reference(status), cursor: { type: 'string' } })
  const read = ['Consistency-Token', 'Prefer']
  const requests: Record<string, { query?: object; path?: object; header: string[]; body?: string }> = {
    listPets: { query: list('PetStatus'), header: read },
    createPet: { header: ['Idempotency-Key', ...read], body: 'NewPet' },
    getPet: { path: { petId: id }, header: ['If-None-Match', ...read] },
    listOrders: { query: list('OrderStatus'), header: read },
    placeOrder: { header: ['Idempotency-Key', ...read], body: 'NewOrder' },
    getOrder: { path: { orderId: id }, header: ['If-None-Match', ...read] },
    updateOrder: { path: { orderId: id }, header: ['If-Match', ...read], body: 'OrderChange' },
    listPetEvents: { path: { petId: id }, query: { limit, cursor: { type: 'string' } }, header: read },
    followEvents: {
      query: { type: { type: 'string' }, petId: id, from: { type: 'string' } },
      header: ['Last-Event-ID'],
    },
  }

  it.each(each)('%s has its parameters, headers and body', (id, { parameters = [], requestBody }) => {
    const { query = {}, path = {}, header, body } = requests[id] ?? { header: [] }
    const found = (place: string) => parameters.filter((parameter) => parameter.in === place)
    const schemas = (place: string) => Object.fromEntries(found(place).map(({ name, schema }) => [name, schema]))
    expect([schemas('query'), schemas('path')]).toMatchObject([query, path])
    expect(Object.keys(schemas('query'))).toEqual(Object.keys(query))
    expect(found('header').map(({ name, schema }) => [name, schema.type])).toEqual(
      header.map((name) => [name, 'string']),
    )
    for (const { in: place, required } of parameters) expect(required).toBe(place === 'path')
    const content = { 'application/json': { schema: reference(body ?? '') } }
    expect(requestBody).toEqual(body === undefined ? undefined : { required: true, content })
  })
})

describe('the responses', () => {
  const deprecation = ['Deprecation', 'Sunset', 'Link']
  const read = ['Consistency-Token', 'Preference-Applied']
  const retry = ['Retry-After']
  const common = {
    400: [],
    401: ['WWW-Authenticate'],
    403: ['WWW-Authenticate'],
    429: retry,
    500: [],
    503: retry,
    default: [],
  }
  const withBody = { ...common, 413: [], 415: [], 504: [] }
  const made = ['Location', 'ETag', 'Consistency-Token', 'Idempotency-Replayed']
  const changed = ['ETag', 'Consistency-Token', 'Preference-Applied']
  const list = { ...common, 200: ['Link', ...read] }
  const find = { ...common, 200: ['ETag', ...read], 304: ['ETag', ...read], 404: [] }
  const headers: Record<string, Record<string, string[]>> = {
    listPets: list,
    createPet: { ...withBody, 201: [...made, 'Read-Model-Applied', 'Preference-Applied'], 422: [] },
    getPet: Object.fromEntries(Object.entries(find).map(([status, names]) => [status, [...names, ...deprecation]])),
    listOrders: list,
    placeOrder: { ...withBody, 201: [...made, 'Preference-Applied'], 409: [], 422: [], 504: ['Location'] },
    getOrder: find,
    listPetEvents: { ...list, 404: [] },
    followEvents: { ...common, 200: [] },
    updateOrder: { ...withBody, 200: changed, 404: [], 409: [], 412: [], 415: ['Accept-Patch'] },
  }

  it.each(each)('of %s have their headers', (id, { responses }) => {
    const found = Object.entries(responses).map(([status, { headers = {} }]) => [status, Object.keys(headers)])
    expect(Object.fromEntries(found)).toEqual(headers[id])
    for (const { headers = {}, description } of Object.values(responses)) {
      expect(description).not.toBe('')
      for (const header of Object.values(headers)) {
        expect(header).toMatchObject({ schema: { type: expect.stringMatching(/^(string|integer)$/) } })
        expect(header.description).not.toBe('')
      }
    }
  })

  it.each(each)('of %s have their body and an example that fits', (id, { responses }) => {
    for (const [status, { content }] of Object.entries(responses)) {
      if (status === '304') {
        expect(content).toBeUndefined()
        continue
      }
      if (id === 'followEvents' && status === '200') {
        expect(content).toMatchObject({ 'text/event-stream': { schema: { type: 'string' } } })
        continue
      }
      const name = status.startsWith('2') ? id.replace(/^[a-z]+/, '') : 'Error' // listPets has Pets, getPet a Pet
      expect(Object.keys(content ?? {})).toEqual(['application/json'])
      const { schema, example } = content?.['application/json'] ?? { schema: {} }
      expect(schema).toEqual(reference(name))
      if (name === 'Error' && status !== 'default') expect(example).toMatchObject({ status: Number(status) })
      if (status !== 'default') expectFits(example, schema)
    }
  })
})

describe('/docs', () => {
  it('is a page that needs no other host', async () => {
    const page = await app.inject('/docs')
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/)
    expect(String(page.headers['content-security-policy'])).not.toMatch(/unsafe|http|\*/)
    const files = [...page.body.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url)
    expect(files.length).toBeGreaterThan(3)
    for (const url of files) {
      expect(url).toMatch(/^\/docs\/static\//)
      expect((await app.inject(url)).statusCode).toBe(200)
    }
    const { body } = await app.inject('/docs/static/page.js')
    expect(body).toContain('validatorUrl: null') // else a badge is fetched from elsewhere
    expect(body).toContain("url: '/openapi.json'")
    expect(body).toContain("layout: 'BaseLayout'") // the other one applies an inline style, which the policy forbids
  })

  it.each(['/', '/docs/'])('is where %s leads, by HEAD as well', async (url) => {
    for (const method of ['GET', 'HEAD'] as const) {
      const { statusCode, headers } = await app.inject({ method, url })
      expect([method, statusCode, headers.location]).toEqual([method, 302, '/docs'])
    }
  })

  it('has a page of errors with an anchor for each code', async () => {
    const { body } = await app.inject('/docs/errors')
    const anchors = [...body.matchAll(/<dt id="(\w+)">/g)].map(([, code]) => code)
    expect(anchors).toEqual(Object.keys(errorFacts))
  })

  it('is what the deprecation notice leads to', async () => {
    const { headers } = await app.inject({ url: '/v1/pets/1', headers: { authorization } })
    const notice = /<([^>]+)>; rel="deprecation"; type="([^"]+)"/.exec(String(headers.link))
    const page = await app.inject(notice?.[1] ?? '')
    expect(page.headers['content-type']).toContain(notice?.[2])
  })
})

/** As far as the examples need it: type, required, properties, items, enum and references. */
function expectFits(value: unknown, schema: Schema): void {
  if (typeof schema.$ref === 'string') {
    expectFits(value, document.components.schemas[schema.$ref.split('/').at(-1) ?? ''])
  } else if (Array.isArray(schema.anyOf)) {
    const { type } = value as { type: string }
    expectFits(
      value,
      schema.anyOf.find(({ properties }) => properties.type.enum.includes(type)),
    )
  } else if (schema.type === 'array') {
    for (const item of value as unknown[]) expectFits(item, schema.items as Schema)
  } else if (schema.type === 'object') {
    const properties = schema.properties as Record<string, Schema>
    expect(Object.keys(value as object)).toEqual(expect.arrayContaining(schema.required as string[]))
    for (const [name, member] of Object.entries(value as object)) expectFits(member, properties[name] as Schema)
  } else {
    expect(typeof value).toBe(schema.type === 'integer' ? 'number' : schema.type)
    if (Array.isArray(schema.enum)) expect(schema.enum).toContain(value)
  }
}
