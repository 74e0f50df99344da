import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Pet, type PetId, petDocument, petStatuses } from '../../src/domain/pet.ts'
import { expectError } from './expect-error.ts'
import { testServer } from './fake-services.ts'

const server = testServer(beforeAll, afterAll)

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 128 }).filter((text) => /\S/.test(text))
const status = fc.constantFrom(...petStatuses)

it('a valid NewPet comes back as it was sent, from POST and from GET', async () => {
  const newPet = fc.record({ name, categoryId: int64, status: fc.option(status, { nil: undefined }) })
  await fc.assert(
    fc.asyncProperty(newPet, async ({ name, categoryId, status }) => {
      const rest = status === undefined ? '' : `,"status":"${status}"`
      const payload = `{"categoryId":${categoryId},"name":${JSON.stringify(name)}${rest}}`
      const created = await server.post('/v1/pets', payload)
      const id = server.services.events.length as PetId
      expect(created.body).toBe(petDocument({ id, name, categoryId, status: status ?? 'available' }))
      expect((await server.get(`/v1/pets/${id}`)).body).toBe(created.body)
    }),
  )
})

it('following the links visits each pet of the filter once, in order, with any limit', async () => {
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), { maxLength: 60 })
  const pets = ids.chain((ids) => fc.tuple(...ids.sort((a, b) => a - b).map((id) => fc.tuple(fc.constant(id), status))))
  const limit = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 100 }))
  await fc.assert(
    fc.asyncProperty(pets, limit, fc.option(status, { nil: undefined }), async (pets, limit, filter) => {
      server.services.clear()
      for (const [id, status] of pets) server.services.add({ name: 'Rex', categoryId: 1, status }, id)
      const expected = pets.filter(([, status]) => filter === undefined || status === filter)
      const pages = await followLinks(`/v1/pets?limit=${limit}${filter === undefined ? '' : `&status=${filter}`}`)
      expect(pages.flat().map(({ id }) => id)).toEqual(expected.map(([id]) => id))
      expect(pages.map((page) => page.length)).toEqual(pageSizes(expected.length, limit))
    }),
  )
})

it('a pet that is added meanwhile is on a later page', async () => {
  server.services.clear()
  for (const id of [1, 2, 3]) server.services.add({ name: 'Rex', categoryId: 1, status: 'sold' }, id)
  const first = await server.get('/v1/pets?limit=2')
  server.services.add({ name: 'Late', categoryId: 1, status: 'sold' })
  const pages = await followLinks(nextOf(first.headers.link) ?? '')
  expect(pages.flat().map(({ id }) => id)).toEqual([3, 4])
})

async function followLinks(first: string): Promise<Pet[][]> {
  const pages: Pet[][] = []
  for (let url: string | undefined = first; url !== undefined; ) {
    const response: Awaited<ReturnType<typeof server.get>> = await server.get(url)
    expect(response.statusCode).toBe(200)
    pages.push(response.json())
    url = nextOf(response.headers.link)
  }
  return pages
}

function nextOf(link: unknown): string | undefined {
  return link === undefined ? undefined : /^<([^>]+)>; rel="next"$/.exec(String(link))?.[1]
}

/** There is one page at least, and never an empty one behind a full one. */
function pageSizes(count: number, limit: number): number[] {
  const full = new Array(Math.floor(count / limit)).fill(limit)
  return count % limit > 0 || count === 0 ? [...full, count % limit] : full
}

it('pages of orders link on to orders, of the same status', async () => {
  server.services.clear()
  for (const id of [101, 103, 105]) {
    server.services.add({ name: 'Rex', categoryId: 1, status: 'available' }, id)
    await server.post('/v1/store/orders', { petId: id })
  }
  await server.patch('/v1/store/orders/104', { status: 'approved' })
  const placed = await server.get('/v1/store/orders?limit=1&status=placed')
  expect(placed.headers.link).toMatch(/^<\/v1\/store\/orders\?limit=1&status=placed&cursor=[\w-]+>; rel="next"$/)
  for (const [status, ids] of Object.entries({ '': [102, 104, 106], '&status=placed': [102, 106] })) {
    const pages = await followLinks(`/v1/store/orders?limit=1${status}`)
    expect(pages.map((page) => page.map(({ id }) => id))).toEqual(ids.map((id) => [id]))
  }
  const cursor = /cursor=[\w-]+/.exec(String(placed.headers.link))?.[0]
  for (const list of ['/v1/pets?', '/v1/pets?status=sold&', '/v1/store/orders?', '/v1/store/orders?status=approved&']) {
    expectError(await server.get(`${list}${cursor}`), 400, 'invalid_cursor', 'another list')
  }
  const [ofPets = ''] = /cursor=[\w-]+/.exec(String((await server.get('/v1/pets?limit=1')).headers.link)) ?? []
  expectError(await server.get(`/v1/store/orders?${ofPets}`), 400, 'invalid_cursor', 'another list')
})
