import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { retryable } from '../../examples/client/api.ts'
import { generateTypes } from '../../examples/client/generate.ts'
import { openPetstore, PetstoreError, send } from '../../examples/client/petstore.ts'
import { openApp, TestServices } from '../engine/http/test-services.ts'
import { petstore } from '../store/petstore.ts'

const options = { url: 'http://petstore.example', apiKey: 'key' }
const pet = '{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"sold"}'

/** A petstore that gives these answers, one after the other, and notes what it is asked. */
function answering(...answers: (Response | Error)[]) {
  const requests: Request[] = []
  async function fetch(request: Request): Promise<Response> {
    requests.push(request)
    const answer = answers.shift()
    if (answer instanceof Response) return answer
    throw answer
  }
  const petstore = openPetstore({ ...options, fetch })
  const params = { path: { petId: 1n } }
  return {
    requests,
    get: () => send(() => petstore.GET('/pets/{petId}', { params })),
    remove: () => send(() => petstore.DELETE('/pets/{petId}', { params })),
  }
}

function error(code: string, status: number, headers: Record<string, string> = {}): Response {
  return Response.json({ code, message: 'as it is', status }, { status, headers })
}

const soon = { 'retry-after': '0' }

it('has the types of /openapi.json: npm run example:client:generate brings them up to date', async () => {
  const app = await openApp(new TestServices(petstore))
  const document = (await app.inject('/openapi.json')).body
  await app.close()
  const types = readFileSync(new URL('../../examples/client/api.ts', import.meta.url), 'utf8')
  expect(types === (await generateTypes(document)), 'examples/client/api.ts is as /openapi.json says').toBe(true)
  // petstore.ts tells an int64 by its name
  const names = [...types.matchAll(/^ +"?(\w+)"?\??: bigint;$/gm)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(5)
  for (const name of names) expect(name).toMatch(/^id$|Id$|^streamversion$|^(available|pending|sold)$/)
})

it.each([
  ['with a Content-Length', { 'content-length': String(pet.length) }],
  ['without one', {}],
])('keeps every digit of an answer %s', async (_, headers) => {
  const { get } = answering(new Response(pet, { headers: { 'content-type': 'application/json', ...headers } }))
  expect((await get()).data).toEqual({ id: 1n, name: 'Rex', categoryId: 9223372036854775807n, status: 'sold' })
})

it('sends again what was lost, and what the service asks to send again', async () => {
  const lost = new TypeError('fetch failed')
  const { get, requests } = answering(lost, error('read_model_behind', 503, soon), new Response(pet))
  expect((await get()).data.name).toBe('Rex')
  expect(requests.map(({ url }) => url)).toEqual(Array(3).fill('http://petstore.example/v1/pets/1'))
})

it('takes a 204 for an answer', async () => {
  const { remove, requests } = answering(new TypeError('fetch failed'), new Response(null, { status: 204 }))
  const { data, response } = await remove()
  expect([data, response.status, requests.length]).toEqual([undefined, 204, 2])
})

it('sends again only what docs/errors.md says can succeed later', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  const rows = page.matchAll(/^\| `(\w+)` \| \d+ \| yes/gm)
  expect(retryable).toEqual([...rows].map(([, code]) => code))
  expect(retryable.length).toBeGreaterThan(5)
})

it('gives up in the end', async () => {
  const { get, requests } = answering(...Array.from({ length: 9 }, () => error('overloaded', 503, soon)))
  await expect(get()).rejects.toMatchObject({ code: 'overloaded', status: 503 })
  expect(requests).toHaveLength(6)
})

it.each([
  ['an error that stays', error('pet_not_found', 404), 'pet_not_found', 404],
  ['an answer that is not of the service', new Response('<html>', { status: 502 }), 'no_error_body', 502],
  ['an answer without a body', new Response(null, { status: 503 }), 'no_error_body', 503],
])('throws at once on %s', async (_, answer, code, status) => {
  const { get, requests } = answering(answer)
  const thrown = await get().catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(PetstoreError)
  expect(thrown).toMatchObject({ code, status })
  expect(requests).toHaveLength(1)
})
