import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { type Pet, type PetId, petDocument, petStatuses } from '../../src/domain/pet.ts'
import { authorization, FakeServices, openApp } from './fake-services.ts'

const services = new FakeServices()
const app = await openApp(services)
afterAll(() => app.close())

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 128 }).filter((text) => /\S/.test(text))
const status = fc.constantFrom(...petStatuses)
const headers = { authorization }

it('a valid NewPet comes back as it was sent, from POST and from GET', async () => {
  const newPet = fc.record({ name, categoryId: int64, status: fc.option(status, { nil: undefined }) })
  await fc.assert(
    fc.asyncProperty(newPet, async ({ name, categoryId, status }) => {
      const rest = status === undefined ? '' : `,"status":"${status}"`
      const payload = `{"categoryId":${categoryId},"name":${JSON.stringify(name)}${rest}}`
      const json = { 'content-type': 'application/json', ...headers }
      const created = await app.inject({ method: 'POST', url: '/v1/pets', payload, headers: json })
      const id = services.stored.length as PetId
      expect(created.body).toBe(petDocument({ id, name, categoryId, status: status ?? 'available' }))
      expect((await app.inject({ url: `/v1/pets/${id}`, headers })).body).toBe(created.body)
    }),
  )
})

it('following the links visits each pet of the filter once, in order, with any limit', async () => {
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), { maxLength: 60 })
  const pets = ids.chain((ids) => fc.tuple(...ids.sort((a, b) => a - b).map((id) => fc.tuple(fc.constant(id), status))))
  const limit = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 100 }))
  await fc.assert(
    fc.asyncProperty(pets, limit, fc.option(status, { nil: undefined }), async (pets, limit, filter) => {
      services.stored.splice(0)
      for (const [id, status] of pets) services.add({ name: 'Rex', categoryId: 1n, status }, id)
      const expected = services.stored.filter(({ status }) => filter === undefined || status === filter)
      const pages = await followLinks(`/v1/pets?limit=${limit}${filter === undefined ? '' : `&status=${filter}`}`)
      expect(pages.flat().map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
      expect(pages.map((page) => page.length)).toEqual(pageSizes(expected.length, limit))
    }),
  )
})

it('a pet that is added meanwhile is on a later page', async () => {
  services.stored.splice(0)
  for (let count = 0; count < 3; count++) services.add({ name: 'Rex', categoryId: 1n, status: 'sold' })
  const first = await app.inject({ url: '/v1/pets?limit=2', headers })
  services.add({ name: 'Late', categoryId: 1n, status: 'sold' })
  const pages = await followLinks(nextOf(first.headers.link) ?? '')
  expect(pages.flat().map(({ id }) => id)).toEqual([3, 4])
})

async function followLinks(first: string): Promise<Pet[][]> {
  const pages: Pet[][] = []
  for (let url: string | undefined = first; url !== undefined; ) {
    const response: Awaited<ReturnType<typeof app.inject>> = await app.inject({ url, headers })
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
