import { describe, expect, it } from 'vitest'
import { expectError, headerOf, testServer } from '../engine/http/test-services.ts'
import { petstore } from './petstore.ts'

const server = testServer(petstore)
const list = '/v1/categories'
const dogs = { name: 'Dogs' }
const walks = 'They like walks'
const underKey = { 'idempotency-key': '"k"' }
const add = (body: string | object = dogs, headers: Record<string, string> = {}) => server.post(list, body, headers)
const addPet = (categoryId: number, headers: Record<string, string> = {}) =>
  server.post('/v1/pets', { name: 'Rex', categoryId }, headers)
const types = () => server.services.events
const named = (id: number, name = 'Dogs') => `{"id":${id},"name":"${name}"}`
const described = (id: number) => `{"id":${id},"name":"Dogs","description":"${walks}"}`

describe('POST of a category', () => {
  it('answers with the category, its members in one order', async () => {
    const { body, headers } = await add(`{"description":"${walks}","name":"Dogs"}`)
    expect([body, headers.location]).toEqual([described(1), `${list}/1`])
    expect((await server.get(`${list}/1`)).body).toBe(described(1))
    expect(types()).toEqual(['CategoryAdded'])
  })

  it('takes a description of a thousand characters, however many bytes they have', async () => {
    const description = '🐕'.repeat(1000)
    expect((await add({ ...dogs, description })).json()).toEqual({ id: 1, ...dogs, description })
  })

  it.each<[body: string | object, message: string]>([
    ['{}', 'name is required'],
    [{ name: '' }, 'name must be 1 to 128 characters'],
    [{ name: 'x'.repeat(129) }, 'name must have at most 128 characters'],
    [{ ...dogs, description: ' ' }, 'description must be 1 to 1000 characters of well-formed Unicode'],
    [{ ...dogs, description: 'x'.repeat(1001) }, 'description must have at most 1000 characters'],
    [{ ...dogs, description: null }, 'description must be string'],
    [{ ...dogs, id: 7 }, '"id" is not allowed here'],
    [{ ...dogs, status: 'sold' }, '"status" is not allowed here'],
  ])('of %j is 400, and says why', async (body, message) => {
    expectError(await add(body), 400, 'invalid_request', message)
    expect(types()).toEqual([])
  })

  it('is another request than that of a pet under the same key', async () => {
    const [category, pet] = [await add(dogs, underKey), await addPet(1, underKey)]
    const again = [await addPet(1, underKey), await add(dogs, underKey)]
    expect([pet.body, category.body]).toEqual(again.map(({ body }) => body))
    for (const { headers, statusCode } of again)
      expect([statusCode, headers['idempotency-replayed']]).toEqual([201, 'true'])
    expect(types()).toEqual(['CategoryAdded', 'PetCreated'])
    expectError(await add({ ...dogs, description: walks }, underKey), 422, 'idempotency_key_reused')
  })
})

describe('GET of categories', () => {
  it('goes from page to page, by a cursor of theirs alone', async () => {
    for (const name of ['Dogs', 'Cats', 'Birds']) await add({ name })
    await addPet(1)
    const first = await server.get(`${list}?limit=2`)
    expect(first.body).toBe(`[${named(1)},${named(2, 'Cats')}]`)
    const [, next = '', cursor] = /^<(.*(cursor=[\w-]+))>; rel="next"$/.exec(headerOf(first, 'link')) ?? []
    const last = await server.get(next)
    expect([last.body, last.headers.link]).toEqual([`[${named(3, 'Birds')}]`, undefined])
    expectError(await server.get(`/v1/pets?${cursor}`), 400, 'invalid_cursor')
    expectError(await server.get(`${list}?status=sold`), 400, 'invalid_request', '"status" is not allowed here')
  })

  it('finds those of a list of ids, and no pet among them', async () => {
    await add()
    await addPet(1)
    await add({ name: 'Cats' })
    expect((await server.get(`${list}?id=3,2,1,9`)).body).toBe(`[${named(1)},${named(3, 'Cats')}]`)
    expectError(await server.get(`${list}/2`), 404, 'category_not_found', 'There is no category 2.')
    expectError(await server.get('/v1/pets/1'), 404, 'pet_not_found', 'There is no pet 1.')
  })

  it('answers 304 while it is as it was', async () => {
    const tag = headerOf(await add(), 'etag')
    expect((await server.get(`${list}/1`, { 'if-none-match': tag })).statusCode).toBe(304)
    await server.patch(`${list}/1`, { description: walks })
    expect((await server.get(`${list}/1`, { 'if-none-match': tag })).body).toBe(described(1))
  })
})

describe('PATCH of a category', () => {
  it('describes it, and takes the description away with null', async () => {
    await add()
    const patch = (body: object) => server.patch(`${list}/1`, body)
    expect((await patch({ description: walks })).body).toBe(described(1))
    expect((await patch({ name: 'Dogs' })).body).toBe(described(1))
    expect((await patch({ description: null })).body).toBe(named(1))
    expect((await patch({ description: null })).body).toBe(named(1))
    expect((await patch({ name: 'Hounds' })).body).toBe(named(1, 'Hounds'))
    expect(types()).toEqual(['CategoryAdded', ...Array(3).fill('CategoryChanged')])
  })

  it('applies to the state that If-Match names alone', async () => {
    const tag = headerOf(await add(), 'etag')
    const patch = (name: string) => server.patch(`${list}/1`, { name }, { 'if-match': tag })
    expect((await patch('Hounds')).body).toBe(named(1, 'Hounds'))
    expectError(await patch('Cats'), 412, 'precondition_failed')
    expect((await server.get(`${list}/1`)).body).toBe(named(1, 'Hounds'))
  })

  it.each<[body: string, message: string]>([
    ['{}', 'must have at least one member'],
    ['{"name":null}', 'name must be string'],
    [
      '{"description":" "}',
      'description must be 1 to 1000 characters of well-formed Unicode, not only white space; or null',
    ],
    ['{"id":2}', '"id" is not allowed here: it never changes'],
  ])('of %s is 400, and says why', async (body, message) => {
    await add()
    expectError(await server.patch(`${list}/1`, body), 400, 'invalid_request', message)
    expect(types()).toEqual(['CategoryAdded'])
  })
})

describe('DELETE of a category', () => {
  const remove = () => server.send('DELETE', `${list}/1`)

  it('removes it for good, once, and its history stays', async () => {
    await add()
    expect([(await remove()).statusCode, (await remove()).statusCode]).toEqual([204, 204])
    expectError(await server.get(`${list}/1`), 404, 'category_not_found')
    expectError(await server.patch(`${list}/1`, dogs), 404, 'category_not_found')
    expect((await server.get(list)).body).toBe('[]')
    const told = (await server.get(`${list}/1/events`)).json()
    expect(told).toMatchObject([
      {
        type: 'petstore.CategoryAdded.v1',
        source: list,
        subject: 'categories/1',
        streamversion: 1,
        data: { id: 1, ...dogs },
      },
      {
        type: 'petstore.CategoryRemoved.v1',
        source: list,
        subject: 'categories/1',
        streamversion: 2,
        data: { categoryId: 1 },
      },
    ])
  })

  it('leaves its pets as they are, and does not stand in the way of new ones', async () => {
    await add()
    const before = await addPet(1)
    await remove()
    expect((await server.get('/v1/pets/2')).body).toBe(before.body)
    expect((await addPet(1)).statusCode).toBe(201)
    expect(types()).toEqual(['CategoryAdded', 'PetCreated', 'CategoryRemoved', 'PetCreated'])
  })
})

it('no history has an event of another kind', async () => {
  await add()
  await addPet(1)
  await server.patch(`${list}/1`, { name: 'Hounds' })
  const typesOf = async (url: string) =>
    (await server.get(url)).json().map(({ type }: { type: string }) => type.split('.')[1])
  expect(await typesOf(`${list}/1/events`)).toEqual(['CategoryAdded', 'CategoryChanged'])
  expect(await typesOf('/v1/pets/2/events')).toEqual(['PetCreated'])
  expectError(await server.get(`${list}/2/events`), 404, 'category_not_found')
  expectError(await server.get('/v1/pets/1/events'), 404, 'pet_not_found')
})

it('the feed has the events of a category, of a pet, or of all', async () => {
  const streamOf = async (query: string) => {
    expect((await server.get(`/v1/events${query}`)).statusCode).toBe(200)
    return server.services.followed.at(-1)?.stream
  }
  expect(await streamOf('?categoryId=7')).toBe('categories/7')
  expect(await streamOf('?petId=7')).toBe('7')
  expect(await streamOf('')).toBeUndefined()
  const both = await server.get('/v1/events?petId=7&categoryId=7')
  expectError(both, 400, 'invalid_request', 'petId and categoryId cannot be used together')
})
