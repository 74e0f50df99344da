import { describe, expect, it } from 'vitest'
import { isNamed, readCondition, tagOf } from '../../src/http/headers.ts'
import { expectError, headerOf, testServer } from './fake-services.ts'

const server = testServer()
const [json, changed] = ['{"id":1,"status":"available"}', '{"id":1,"status":"pending"}']
const tag = `"${tagOf(json)}"`

it('is 96 bits of the SHA-256 of the text', () => {
  expect(tag).toBe('"yI4KV-uj_xBZzVmE"')
  expect(tagOf(changed)).not.toBe(tagOf(json))
})

describe('a condition', () => {
  const none = [
    `"${tagOf(changed)}"`,
    `"${tagOf(json)}="`,
    '""',
    '"a,b\xe9!"',
    `"a,${tag.slice(1)},"b"`,
    '"x","y",W/"z"',
  ]
  it.each<[header: string, ifMatch: boolean, ifNoneMatch: boolean]>([
    ...[tag, '*', `"x", ${tag}`].map((header): [string, true, true] => [header, true, true]),
    ...[`W/${tag}`, `,"x" , ,\tW/${tag},, "y"`].map((header): [string, false, true] => [header, false, true]),
    ...none.map((header): [string, false, false] => [header, false, false]),
  ])('%s names the tag in If-Match: %s, in If-None-Match: %s', (header, ifMatch, ifNoneMatch) => {
    expect(isNamed(tagOf(json), readCondition('If-Match', header))).toBe(ifMatch)
    expect(isNamed(tagOf(json), readCondition('If-None-Match', header))).toBe(ifNoneMatch)
  })

  const malformed = ['', ', ,', tag.slice(1, -1), tag.slice(0, -1), `w/${tag}`, 'W/', `${tag} ${tag}`, `*, ${tag}`]
  const unprintable = ['"*" x', '"a b"', '"a\u0001b"', `"a"${' '.repeat(10_000)}x`]
  it.each([...malformed, ...unprintable])('malformed is 400: %.40j', async (header) => {
    const answers = [
      await server.get('/v1/pets/1', { 'if-none-match': header }),
      await server.get('/v1/store/orders/1', { 'if-none-match': header }),
      await server.patch('/v1/store/orders/1', { status: 'approved' }, { 'if-match': header }),
    ]
    for (const answer of answers) expectError(answer, 400, 'invalid_request', 'must be * or a list of entity tags')
    expect(server.services.atLeast).toEqual([])
  })
})

it.each(['/v1/pets/1', '/v1/store/orders/2'])('GET %s is 304 for a client that has it as it is', async (url) => {
  await server.post('/v1/pets', { name: 'Rex', categoryId: 7 })
  await server.post('/v1/store/orders', { petId: 1 })
  const whole = await server.get(url)
  const etag = headerOf(whole, 'etag')
  expect(whole.headers).toMatchObject({ etag: `"${tagOf(whole.body)}"`, 'cache-control': 'private, no-cache' })
  const same = await server.get(url, { 'if-none-match': etag })
  const { 'content-type': _type, 'content-length': _length, ...headers } = whole.headers
  expect([same.statusCode, same.body, same.headers]).toEqual([304, '', { ...headers, date: same.headers.date }])
  await server.patch('/v1/store/orders/2', { status: 'cancelled' })
  const changed = await server.get(url, { 'if-none-match': etag })
  expect([changed.statusCode, changed.headers.etag]).toEqual([200, `"${tagOf(changed.body)}"`])
  expectError(
    await server.get(`${url}0`, { 'if-none-match': '*' }),
    404,
    url === '/v1/pets/1' ? 'pet_not_found' : 'order_not_found',
  )
})

it('a state that comes back has its tag again, and another one has another', async () => {
  await server.post('/v1/pets', { name: 'Rex', categoryId: 7 })
  const tagNow = async () => headerOf(await server.get('/v1/pets/1'), 'etag')
  const available = await tagNow()
  await server.post('/v1/store/orders', { petId: 1 })
  expect(await tagNow()).not.toBe(available)
  await server.patch('/v1/store/orders/2', { status: 'cancelled' })
  expect(await tagNow()).toBe(available)
})
