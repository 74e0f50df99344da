import { describe, expect, it } from 'vitest'
import { expectError, testServer } from '../engine/http/test-services.ts'
import { petstore } from './petstore.ts'

const server = testServer(petstore)
const pet = '/v1/pets/1'
const add = () => server.services.add({ name: 'Rex', categoryId: 7, status: 'available' })
const patch = (body: string | object) => server.patch(pet, body)
const remove = () => server.send('DELETE', pet)
const types = () => server.services.events
const document = (name: string, categoryId = '7') =>
  `{"id":1,"name":"${name}","categoryId":${categoryId},"status":"available"}`

describe('PATCH of a pet', () => {
  it('changes what it has, each digit and character of it', async () => {
    add()
    expect((await patch({ name: 'Max' })).body).toBe(document('Max'))
    const many = await patch('{"categoryId":-9223372036854775808,"name":"Zoë"}')
    expect([many.body, (await server.get(pet)).body]).toEqual(Array(2).fill(document('Zoë', '-9223372036854775808')))
  })

  it('describes a pet, and takes the description away with null', async () => {
    add()
    const described = await patch({ description: 'Likes children' })
    expect(described.body).toBe(`${document('Rex').slice(0, -1)},"description":"Likes children"}`)
    expect((await patch({ description: null })).body).toBe(document('Rex'))
    expect((await patch({ description: null })).body).toBe(document('Rex'))
    expect(types()).toEqual(['PetCreated', 'PetChanged', 'PetChanged'])
  })

  it.each<[body: string, message: string]>([
    ['{}', 'must have at least one member'],
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
})

describe('DELETE of a pet', () => {
  it('is refused while an order is open, and leaves a final one readable', async () => {
    add()
    const { headers } = await server.post('/v1/store/orders', { petId: 1 })
    expectError(await remove(), 409, 'pet_is_ordered', `order ${String(headers.location).split('/').at(-1)} holds it`)
    await server.patch(String(headers.location), { status: 'cancelled' })
    expect((await remove()).statusCode).toBe(204)
    expect((await server.get(String(headers.location))).json()).toMatchObject({ petId: 1, status: 'cancelled' })
    expect((await server.patch(String(headers.location), { status: 'cancelled' })).statusCode).toBe(200)
  })
})
