import { describe, expect, it } from 'vitest'
import { UnknownOutcome } from '../../src/engine/commands/command-handler.ts'
import { tagOf } from '../../src/engine/http/values/conditions.ts'
import { expectError, headerOf } from '../engine/http/test-services.ts'
import { storeServer } from './store-services.ts'

const server = storeServer()
const path = '/v1/store/orders'
const placedAt = '2026-11-20T09:30:00.000Z'
const later = '2026-11-21T10:00:00.000Z'
const place = (body: string | object = { petId: 1 }) => server.post(path, body)
const patch = (status: string, headers?: Record<string, string>, id = 2) =>
  server.patch(`${path}/${id}`, { status }, headers)
const types = () => server.services.events

/** Pet 1, and where statuses are given order 2 of it, which went through them. */
async function given(...statuses: readonly string[]): Promise<void> {
  server.services.add({ name: 'Rex', categoryId: 7, status: 'available' })
  for (const status of statuses)
    expect((status === 'placed' ? await place() : await patch(status)).statusCode).toBeLessThan(300)
  server.services.time = later
}

describe('placing an order', () => {
  it('answers 201 with the order, its path and its tag, and takes the pet', async () => {
    await given()
    server.services.time = '2026-11-20T10:30:00+01:00'
    const response = await place()
    expect([response.statusCode, response.body]).toEqual([
      201,
      `{"id":2,"petId":1,"status":"placed","placedAt":"${placedAt}","updatedAt":"${placedAt}"}`,
    ])
    expect(response.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      location: '/v1/store/orders/2',
      etag: `"${tagOf(response.body)}"`,
      'cache-control': 'private, no-cache, no-transform',
      'consistency-token': expect.any(String),
    })
    for (const header of ['read-model-applied', 'vary']) expect(response.headers).not.toHaveProperty(header)
    const read = await server.get(`${path}/2`)
    expect([read.body, read.headers.etag]).toEqual([response.body, response.headers.etag])
    expect((await server.get('/v1/pets/1')).json()).toMatchObject({ status: 'pending' })
  })

  it.each(['2', '0', '-1', '9007199254740992', '9007199254740993', '9223372036854775807', '-9223372036854775808'])(
    'of pet %s, which never was, is 422',
    async (petId) => {
      await given()
      expectError(await place(`{"petId":${petId}}`), 422, 'unknown_pet', `There is no pet ${petId}.`)
      expect(server.services.handled.length).toBe(petId === '2' ? 1 : 0)
    },
  )

  it('is 409 for a pet that another order holds, which the message names', async () => {
    await given('placed')
    expectError(await place(), 409, 'pet_not_available', 'Pet 1 is pending: order 2 holds it.')
  })

  it('names the order that may exist when its outcome is unknown', async () => {
    await given('placed')
    server.services.beforeCommand = () => Promise.reject(new UnknownOutcome({ id: 12 }, 'The reason.', undefined))
    const response = await place()
    expectError(response, 504, 'append_outcome_unknown', 'The reason.')
    expect(response.headers.location).toBe('/v1/store/orders/12')
    for (const other of [await patch('approved'), await server.post('/v1/pets', { name: 'Rex', categoryId: 7 })]) {
      expectError(other, 504, 'append_outcome_unknown')
      expect(other.headers).not.toHaveProperty('location')
    }
  })
})

describe('changing an order', () => {
  it.each([
    ['approved', later],
    ['placed', placedAt], // as it is already
  ])('to %s answers 200 with the order as it is now, and its tag', async (status, updatedAt) => {
    await given('placed')
    const response = await patch(status)
    expect([response.statusCode, response.json()]).toEqual([200, { id: 2, petId: 1, status, placedAt, updatedAt }])
    expect(server.services.atLeast).toEqual([]) // what the command has read is all that is read
    expect(response.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      etag: `"${tagOf(response.body)}"`,
      'cache-control': 'private, no-cache, no-transform',
      'consistency-token': expect.any(String),
    })
    const read = await server.get(`${path}/2`)
    expect([read.body, read.headers.etag]).toEqual([response.body, response.headers.etag])
    expect(types()).toEqual(['PetCreated', 'OrderPlaced', ...(status === 'placed' ? [] : ['OrderApproved'])])
  })

  it('to a status that it cannot get is 409', async () => {
    await given('placed')
    expectError(
      await patch('delivered'),
      409,
      'order_transition_invalid',
      'Order 2 is placed and cannot become delivered.',
    )
    expect(types()).toHaveLength(2)
  })

  it.each(['3', '0', '9223372036854775807'])('is 404 for %s, which never was, whatever If-Match says', async (id) => {
    await given('placed')
    const answer = await server.patch(`${path}/${id}`, { status: 'approved' }, { 'if-match': '"x"' })
    expectError(answer, 404, 'order_not_found', `There is no order ${id}.`)
  })

  it('ignores an Idempotency-Key, a malformed one too', async () => {
    await given('placed')
    expect((await patch('approved', { 'idempotency-key': '"' })).statusCode).toBe(200)
    expect(server.services.handled.at(-1)?.idempotency).toBeUndefined()
  })

  const tagNow = async (id = 2) => headerOf(await server.get(`${path}/${id}`), 'etag')
  it('is 200 with If-Match of the current tag, 412 with another, and 409 only behind that', async () => {
    await given('placed')
    const placed = await tagNow()
    await patch('approved')
    expectError(await patch('placed', { 'if-match': placed }), 412, 'precondition_failed')
    expectError(await patch('placed', { 'if-match': await tagNow() }), 409, 'order_transition_invalid')
    expect(types()).toHaveLength(3)
    expect((await patch('delivered', { 'if-match': `"x", ${await tagNow()}` })).statusCode).toBe(200)
    expect(types()).toHaveLength(4)
  })

  it.each([
    ['cancelled', 'another', 200],
    ['approved', 'of the later one', 412],
    ['approved', 'its own', 409],
  ])('of which the pet has a later one, to %s with If-Match of %s, is %i', async (status, whose, answer) => {
    await given('placed', 'cancelled', 'placed')
    const own = await tagNow()
    const ifMatch = { another: '"x"', 'of the later one': await tagNow(3) }[whose] ?? own
    const response = await patch(status, { 'if-match': ifMatch })
    expect(response.statusCode).toBe(answer)
    if (answer === 200) expect([response.json().id, response.headers.etag]).toEqual([2, own])
    expect((await server.get(`${path}/3`)).json()).toMatchObject({ status: 'placed' })
  })
})
