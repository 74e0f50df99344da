import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { requestIdentity } from '../../src/command-handling/request-identity.ts'
import { ServiceError } from '../../src/lib/errors.ts'
import { expectError } from './expect-error.ts'
import { authorization, FakeServices, openApp } from './fake-services.ts'

let services: FakeServices
let app: Awaited<ReturnType<typeof openApp>>
beforeEach(async () => {
  services = new FakeServices()
  app = await openApp(services)
})
afterEach(() => app.close())

const payload = { name: 'Rex', categoryId: 7 }
const rex = { name: 'Rex', categoryId: 7n, status: 'available' } as const

/** An array stands for a header that is sent more than once, joined as Node joins it. */
function post(key: string | string[] | undefined, headers: Record<string, string> = {}, body: object = payload) {
  const idempotencyKey = key === undefined ? {} : { 'idempotency-key': Array.isArray(key) ? key.join(', ') : key }
  const all = { authorization, ...idempotencyKey, ...headers }
  return app.inject({ method: 'POST', url: '/v1/pets', payload: body, headers: all })
}

describe('a POST with an Idempotency-Key', () => {
  it('is identified by API key, Idempotency-Key and pet', async () => {
    expect((await post('"order 7"')).statusCode).toBe(201)
    expect(services.identities).toEqual([requestIdentity('key-1', 'order 7', rex)])
  })

  it.each([
    ['"x"', 'x'],
    [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
    ['" "', ' '],
    ['"a, b; c"', 'a, b; c'],
    ['"quote \\" and backslash \\\\"', 'quote " and backslash \\'],
    [`"${'\\\\'.repeat(255)}"`, '\\'.repeat(255)],
  ])('%s is a key', async (header, key) => {
    expect((await post(header)).statusCode).toBe(201)
    expect(services.identities).toEqual([requestIdentity('key-1', key, rex)])
  })

  it.each([
    ['unquoted', 'order-7'],
    ['empty', '""'],
    ['no text at all', ''],
    ['of 256 characters', `"${'x'.repeat(256)}"`],
    ['half quoted', '"order-7'],
    ['with text behind the quotes', '"order-7" '.concat('x')],
    ['with parameters', '"order-7";a=1'],
    ['with an unknown escape', '"a\\n"'],
    ['with a quote in it', '"a"b"'],
    ['with a tab', '"a\tb"'],
    ['beyond ASCII', '"Zo\u00eb"'],
    ['sent twice', ['"order-7"', '"order-7"']],
    ['sent twice with different keys', ['"order-7"', '"order-8"']],
  ])('%s is refused, and nothing is stored', async (_, header) => {
    expectError(await post(header), 400, 'invalid_idempotency_key', 'Idempotency-Key')
    expect([services.stored, services.identities]).toEqual([[], []])
  })

  it('says when an earlier request created the pet', async () => {
    const first = await post('"k"')
    expect(first.headers).not.toHaveProperty('idempotency-replayed')
    services.createPetOnce = async () => ({
      id: 1 as never,
      document: first.body,
      position: { partition: 0, offset: 0 },
      replayed: true,
    })
    const again = await post('"k"')
    expect([again.statusCode, again.body]).toEqual([201, first.body])
    expect(again.headers).toMatchObject({ 'idempotency-replayed': 'true', location: '/v1/pets/1' })
    expect(again.headers['consistency-token']).toBe(first.headers['consistency-token'])
  })

  it('is answered once its key is decided, whatever it prefers', async () => {
    const response = await post('"k"', { prefer: 'wait=0' })
    expect(response.statusCode).toBe(201)
    expect(response.headers).not.toHaveProperty('preference-applied')
    expect(services.waits).toEqual([])
  })

  it.each([
    ['idempotency_key_reused', 422],
    ['append_outcome_unknown', 504],
    ['event_parked', 500],
    ['read_model_unavailable', 503],
  ] as const)('can end in %s', async (code, status) => {
    services.createPetOnce = async () => {
      throw new ServiceError(code, 'as it is')
    }
    expectError(await post('"k"'), status, code, 'as it is')
  })

  it('is refused for its body before its key is looked at', async () => {
    expectError(await post('not quoted', {}, { name: '' }), 400, 'invalid_request')
  })
})

it('a POST without an Idempotency-Key is no repetition of any other', async () => {
  await post(undefined)
  await post(undefined)
  expect(services.identities).toEqual([])
  expect(services.stored).toHaveLength(2)
})
