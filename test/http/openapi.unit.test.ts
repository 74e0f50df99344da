import { afterAll, describe, expect, it } from 'vitest'
import { petStatuses } from '../../src/domain/pet.ts'
import { authorization, FakeServices, openApp } from './fake-services.ts'

interface Schema {
  readonly [keyword: string]: unknown
}
interface Response {
  readonly description: string
  readonly headers?: Record<string, { schema: Schema; description: string }>
  readonly content: Record<string, { schema: Schema; example?: unknown }>
}
interface Operation {
  readonly operationId: string
  readonly tags: string[]
  readonly security: object[]
  readonly deprecated?: boolean
  readonly parameters?: { name: string; in: string; required: boolean; schema: Schema }[]
  readonly requestBody?: { required: boolean; content: Record<string, { schema: Schema }> }
  readonly responses: Record<string, Response>
}

const app = await openApp(new FakeServices())
afterAll(() => app.close())
const answer = await app.inject('/openapi.json')
const document = answer.json()
const operations: Record<string, Operation> = {
  listPets: document.paths['/pets'].get,
  createPet: document.paths['/pets'].post,
  getPet: document.paths['/pets/{petId}'].get,
}
const each = Object.entries(operations)
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })

it('is served as JSON, without a key', () => {
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
})

it('is OpenAPI 3.1 of version 1.0.0 under /v1', () => {
  expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' }, servers: [{ url: '/v1' }] })
  expect(document.tags).toMatchObject([{ name: 'animals' }])
})

it('has the three operations of the specification and no other', () => {
  expect(Object.keys(document.paths)).toEqual(['/pets', '/pets/{petId}'])
  expect(Object.keys(document.paths['/pets'])).toEqual(['get', 'post'])
  expect(Object.keys(document.paths['/pets/{petId}'])).toEqual(['get'])
  for (const [id, { operationId, tags }] of each) expect([operationId, tags]).toEqual([id, ['animals']])
})

it('protects each by the bearer scheme', () => {
  expect(document.components.securitySchemes.apiKey).toMatchObject({ type: 'http', scheme: 'bearer' })
  for (const [, { security }] of each) expect(security).toEqual([{ apiKey: [] }])
})

it('marks getPet alone as deprecated', () => {
  expect(each.map(([, { deprecated }]) => deprecated)).toEqual([undefined, undefined, true])
})

it('refers only to what is there', () => {
  const references = JSON.stringify(document).match(/"\$ref":"[^"]+"/g) ?? []
  expect(references.length).toBeGreaterThan(20)
  for (const text of references) {
    const [, ...path] = JSON.parse(`{${text}}`).$ref.split('/')
    expect(path.reduce((node: Record<string, unknown>, name: string) => node[name] as never, document)).toBeDefined()
  }
})

describe('the schemas', () => {
  const { Pet, NewPet, Pets, PetStatus, Error: ErrorBody } = document.components.schemas

  it('are the named ones', () => {
    expect(Object.keys(document.components.schemas)).toEqual(['Pet', 'NewPet', 'Pets', 'PetStatus', 'Error'])
    expect(PetStatus).toMatchObject({ type: 'string', enum: [...petStatuses] })
    expect(Pets).toMatchObject({ type: 'array', items: reference('Pet') })
  })

  it('Pet and NewPet have the fields of the specification', () => {
    expect(NewPet).toMatchObject({ type: 'object', required: ['name', 'categoryId'], additionalProperties: false })
    expect(NewPet.properties).toMatchObject({
      name: { type: 'string', minLength: 1, maxLength: 128 },
      categoryId: { type: 'integer', format: 'int64' },
      status: reference('PetStatus'),
    })
    expect(Pet).toMatchObject({ type: 'object', required: ['id', 'name', 'categoryId', 'status'] })
    expect(Pet.properties).toEqual({ ...NewPet.properties, id: Pet.properties.id })
    expect(Pet.properties.id).toMatchObject({ type: 'integer', format: 'int64' })
  })

  it('Error has code, message and status', () => {
    expect(ErrorBody).toMatchObject({ type: 'object', required: ['code', 'message', 'status'] })
    expect(ErrorBody.properties).toMatchObject({
      code: { type: 'string' },
      message: { type: 'string' },
      status: { type: 'integer' },
    })
  })
})

describe('the requests', () => {
  const readHeaders = [
    { name: 'Consistency-Token', in: 'header', required: false, schema: { type: 'string' } },
    { name: 'Prefer', in: 'header', required: false, schema: { type: 'string' } },
  ]

  it('listPets has limit, status and cursor, and headers', () => {
    expect(operations.listPets?.parameters).toMatchObject([
      {
        name: 'limit',
        in: 'query',
        required: false,
        schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      },
      { name: 'status', in: 'query', required: false, schema: reference('PetStatus') },
      { name: 'cursor', in: 'query', required: false, schema: { type: 'string' } },
      ...readHeaders,
    ])
  })

  it('createPet has a body and headers', () => {
    expect(operations.createPet?.requestBody).toEqual({
      required: true,
      content: { 'application/json': { schema: reference('NewPet') } },
    })
    expect(operations.createPet?.parameters).toMatchObject([
      { name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string' } },
      { name: 'Prefer', in: 'header', required: false, schema: { type: 'string' } },
    ])
  })

  it('getPet has a path parameter and headers', () => {
    expect(operations.getPet?.parameters).toMatchObject([
      { name: 'petId', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } },
      ...readHeaders,
    ])
  })
})

describe('the responses', () => {
  const deprecation = ['Deprecation', 'Sunset', 'Link']
  const headers: Record<string, Record<string, string[]>> = {
    listPets: {
      200: ['Link', 'Preference-Applied'],
      400: [],
      401: ['WWW-Authenticate'],
      500: [],
      503: ['Retry-After'],
      default: [],
    },
    createPet: {
      201: ['Location', 'Consistency-Token', 'Idempotency-Replayed', 'Preference-Applied'],
      400: [],
      401: ['WWW-Authenticate'],
      413: [],
      415: [],
      422: [],
      500: [],
      503: ['Retry-After'],
      504: [],
      default: [],
    },
    getPet: {
      200: ['Preference-Applied', ...deprecation],
      400: deprecation,
      401: ['WWW-Authenticate', ...deprecation],
      404: deprecation,
      500: deprecation,
      503: ['Retry-After', ...deprecation],
      default: deprecation,
    },
  }
  const bodies: Record<string, string> = { 'listPets 200': 'Pets', 'createPet 201': 'Pet', 'getPet 200': 'Pet' }

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
      const name = bodies[`${id} ${status}`] ?? 'Error'
      expect(Object.keys(content)).toEqual(['application/json'])
      const { schema, example } = content['application/json'] ?? { schema: {} }
      expect(schema).toEqual(reference(name))
      if (name === 'Error' && status !== 'default') expect(example).toMatchObject({ status: Number(status) })
      if (status !== 'default') expectFits(example, schema)
    }
  })
})

describe('/docs', () => {
  it('shows the same document', async () => {
    expect((await app.inject('/docs/json')).json()).toEqual(document)
  })

  it('is a page that needs no other host', async () => {
    const page = await app.inject('/docs')
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/)
    expect(String(page.headers['content-security-policy'])).not.toMatch(/unsafe|http|\*/)
    const files = [...page.body.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url)
    expect(files.length).toBeGreaterThan(4)
    for (const url of files) {
      expect(url).toMatch(/^\/docs\/static\//)
      expect((await app.inject(url)).statusCode).toBe(200)
    }
    const { body } = await app.inject('/docs/static/swagger-initializer.js')
    expect(body).toContain('validatorUrl: null') // else a badge is fetched from elsewhere
    expect(body).toContain('"layout":"BaseLayout"') // the other one applies an inline style, which the policy forbids
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
