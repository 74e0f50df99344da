import { describe, expect, it } from 'vitest'
import { tagOf } from '../../src/engine/http/values/conditions.ts'
import { expectError } from '../engine/http/test-services.ts'
import { storeServer } from './store-services.ts'

const server = storeServer()
const pet = '/v1/pets/1'
const add = () => server.services.add({ name: 'Rex', categoryId: 7, status: 'available' })
const patch = (body: string | object, headers?: Record<string, string>) => server.patch(pet, body, headers)
const remove = (headers?: Record<string, string>, path = pet) => server.send('DELETE', path, undefined, headers)
const types = () => server.services.events
const document = (name: string, categoryId = '7') =>
  `{"id":1,"name":"${name}","categoryId":${categoryId},"status":"available"}`

describe('PATCH of a pet', () => {
  it('changes what it has, answers with all of it, its tag and a token', async () => {
    add()
    const response = await patch({ name: 'Max' })
    expect([response.statusCode, response.body]).toEqual([200, document('Max')])
    expect(response.headers).toMatchObject({
      etag: `"${tagOf(document('Max'))}"`,
      'consistency-token': expect.any(String),
      'cache-control': 'private, no-cache, no-transform',
    })
    expect((await server.get(pet)).body).toBe(document('Max'))
    const many = await patch('{"categoryId":-9223372036854775808,"name":"Zoë"}')
    expect(many.body).toBe(document('Zoë', '-9223372036854775808'))
    expect(types()).toEqual(['PetCreated', 'PetChanged', 'PetChanged'])
  })

  it.each(['application/merge-patch+json', 'application/merge-patch+json; charset=utf-8', 'application/json'])(
    'may be sent as %s',
    async (type) => {
      add()
      expect((await patch('{"name":"Max"}', { 'content-type': type })).body).toBe(document('Max'))
    },
  )

  it('describes a pet, and takes the description away with null', async () => {
    add()
    const described = await patch({ description: 'Likes children' })
    expect(described.body).toBe(`${document('Rex').slice(0, -1)},"description":"Likes children"}`)
    expect((await patch({ description: null })).body).toBe(document('Rex'))
    expect((await patch({ description: null })).body).toBe(document('Rex'))
    expect(types()).toEqual(['PetCreated', 'PetChanged', 'PetChanged'])
  })

  it('leaves a pet as it is that is so already, whatever If-Match says', async () => {
    add()
    const response = await patch({ name: 'Rex', categoryId: 7 }, { 'if-match': '"other"' })
    expect([response.statusCode, response.body, types()]).toEqual([200, document('Rex'), ['PetCreated']])
  })

  it('is refused by the tag of another state, and not by that of the present one', async () => {
    add()
    const tag = String((await server.get(pet)).headers.etag)
    expect((await patch({ name: 'Max' }, { 'if-match': tag })).statusCode).toBe(200)
    expectError(await patch({ name: 'Ben' }, { 'if-match': tag }), 412, 'precondition_failed')
  })

  it.each<[body: string, message: string]>([
    ['{}', 'must have at least one member'],
    ['null', 'the value must be object'],
    ['[]', 'the value must be object'],
    ['{"name":null}', 'name must be string'],
    ['{"name":" "}', 'name must be 1 to 128 characters'],
    [
      '{"description":" "}',
      'description must be 1 to 500 characters of well-formed Unicode, not only white space; or null',
    ],
    ['{"description":7}', 'description must be string'],
    ['{"categoryId":null}', 'categoryId must be an integer'],
    ['{"categoryId":9223372036854775808}', 'categoryId must be an integer'],
    ['{"name":"Max","kind":"dog"}', '"kind" is not allowed here'],
    ['{"status":"sold"}', '"status" is not allowed here: it changes with the orders of the pet'],
    ['{"id":1}', '"id" is not allowed here: it never changes'],
    ['{"toString":1}', '"toString" is not allowed here'],
  ])('of %s is 400, and says why', async (body, message) => {
    add()
    expectError(
      await patch(body),
      400,
      'invalid_request',
      `body: ${message}`.replace('body: must', 'body: the value must'),
    )
    expect(types()).toEqual(['PetCreated'])
  })

  it('of one that never was, or is removed, is 404 alike', async () => {
    expectError(await patch({ name: 'Max' }), 404, 'pet_not_found', 'There is no pet 1.')
    add()
    await remove()
    expectError(await patch({ name: 'Max' }), 404, 'pet_not_found', 'There is no pet 1.')
    expectError(await server.patch('/v1/pets/0', { name: 'Max' }), 404, 'pet_not_found')
    expectError(await server.patch('/v1/pets/x', { name: 'Max' }), 400, 'invalid_request')
  })
})

describe('DELETE of a pet', () => {
  it('is answered with nothing but tokens, and again without another event', async () => {
    add()
    for (let time = 0; time < 2; time++) {
      const { statusCode, body, headers } = await remove()
      expect([statusCode, body, headers['consistency-token']]).toEqual([204, '', expect.any(String)])
      expect(headers).not.toHaveProperty('content-type')
    }
    expect(types()).toEqual(['PetCreated', 'PetRemoved'])
    expectError(await server.get(pet), 404, 'pet_not_found')
    expect((await server.get('/v1/pets')).body).toBe('[]')
    expect((await server.get(`${pet}/events`)).json()).toHaveLength(2)
    expectError(await server.post('/v1/store/orders', { petId: 1 }), 422, 'unknown_pet')
  })

  it('needs no more than the scope write, and works whatever Content-Type says of no body', async () => {
    add()
    server.services.scopes = new Set(['write'])
    expect((await remove({ 'content-type': 'application/json' })).statusCode).toBe(204)
    expect((await remove()).statusCode).toBe(204)
  })

  it('is refused by the tag of another state', async () => {
    add()
    expectError(await remove({ 'if-match': '"other"' }), 412, 'precondition_failed')
    expect((await remove({ 'if-match': `"${tagOf(document('Rex'))}"` })).statusCode).toBe(204)
    expect((await remove({ 'if-match': '"other"' })).statusCode).toBe(204)
  })

  it('is refused while an order is open, and leaves a final one readable', async () => {
    add()
    const { headers } = await server.post('/v1/store/orders', { petId: 1 })
    expectError(await remove(), 409, 'pet_is_ordered', `order ${String(headers.location).split('/').at(-1)} holds it`)
    await server.patch(String(headers.location), { status: 'cancelled' })
    expect((await remove()).statusCode).toBe(204)
    expect((await server.get(String(headers.location))).json()).toMatchObject({ petId: 1, status: 'cancelled' })
    expect((await server.patch(String(headers.location), { status: 'cancelled' })).statusCode).toBe(200)
  })

  it('of one that never was is 404', async () => {
    expectError(await remove(), 404, 'pet_not_found', 'There is no pet 1.')
    expectError(await remove({}, '/v1/pets/0'), 404, 'pet_not_found')
    expectError(await remove({}, '/v1/pets/x'), 400, 'invalid_request')
    expectError(await remove({}, '/v1/pets'), 405, 'method_not_allowed')
  })

  it('leaves the first answer of a keyed creation as it was', async () => {
    const create = () => server.post('/v1/pets', { name: 'Rex', categoryId: 7 }, { 'idempotency-key': 'once' })
    const first = await create()
    await remove()
    const again = await create()
    expect([again.statusCode, again.body, again.headers.location]).toEqual([201, first.body, first.headers.location])
    expectError(await server.get(String(again.headers.location)), 404, 'pet_not_found')
  })
})
