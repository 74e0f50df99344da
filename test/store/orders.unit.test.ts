import { describe, expect, it } from 'vitest'
import { expectError, testServer } from '../engine/http/test-services.ts'
import { petstore } from './petstore.ts'

const server = testServer(petstore)
const path = '/v1/store/orders'
const placedAt = '2026-11-20T09:30:00.000Z'
const add = () => server.services.add({ name: 'Rex', categoryId: 7, status: 'available' })
const place = (body: string | object = { petId: 1 }) => server.post(path, body)

describe('placing an order', () => {
  it('answers with the order, its time in UTC, and takes the pet', async () => {
    add()
    server.services.time = '2026-11-20T10:30:00+01:00'
    const { body } = await place()
    expect(body).toBe(`{"id":2,"petId":1,"status":"placed","placedAt":"${placedAt}","updatedAt":"${placedAt}"}`)
    expect((await server.get('/v1/pets/1')).json()).toMatchObject({ status: 'pending' })
    expectError(await place(), 409, 'pet_not_available', 'Pet 1 is pending: order 2 holds it.')
  })

  it.each(['2', '0', '-1', '9007199254740992', '9007199254740993', '9223372036854775807', '-9223372036854775808'])(
    'of pet %s, which never was, is 422',
    async (petId) => {
      add()
      expectError(await place(`{"petId":${petId}}`), 422, 'unknown_pet', `There is no pet ${petId}.`)
      expect(server.services.handled.length).toBe(petId === '2' ? 1 : 0)
    },
  )
})
