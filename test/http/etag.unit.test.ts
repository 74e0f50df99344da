import { describe, expect, it } from 'vitest'
import { isNamed, readCondition, writeTag } from '../../src/http/headers.ts'
import { expectError, headerOf, tagScope, testServer } from './fake-services.ts'

const server = testServer()
const tag = writeTag(tagScope, 2)
const otherLog = writeTag({ ...tagScope, log: { ...tagScope.log, logId: 'c0ffee00-1' } }, 2)
const otherReadModel = writeTag({ ...tagScope, readModelVersion: 'pets-5.orders-1' }, 2)

it('tells logs, read models and versions apart', () => {
  expect([tag, otherLog, otherReadModel]).toEqual([
    '"f00dcafe-pets-3.orders-1-2"',
    '"c0ffee00-pets-3.orders-1-2"',
    '"f00dcafe-pets-5.orders-1-2"',
  ])
})

describe('a condition', () => {
  const none = [
    ...[writeTag(tagScope, 1), writeTag(tagScope, 20), '"f00dcafe-pets-3.orders-1-02"', '"f00dcafe-pets-3.orders-1-"'],
    ...[otherLog, otherReadModel, '""', '"a,b\xe9!"', `"a,${tag.slice(1)},"b"`, '"x","y",W/"z"'],
  ]
  it.each<[header: string, ifMatch: boolean, ifNoneMatch: boolean]>([
    ...[tag, '*', `"x", ${tag}`].map((header): [string, true, true] => [header, true, true]),
    ...[`W/${tag}`, `,"x" , ,\tW/${tag},, "y"`].map((header): [string, false, true] => [header, false, true]),
    ...none.map((header): [string, false, false] => [header, false, false]),
  ])('%s names the tag in If-Match: %s, in If-None-Match: %s', (header, ifMatch, ifNoneMatch) => {
    expect(isNamed(2, readCondition('If-Match', header, tagScope))).toBe(ifMatch)
    expect(isNamed(2, readCondition('If-None-Match', header, tagScope))).toBe(ifNoneMatch)
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
  expect(whole.headers).toMatchObject({ etag: tag, 'cache-control': 'private, no-cache' })
  const same = await server.get(url, { 'if-none-match': etag })
  const { 'content-type': _type, 'content-length': _length, ...headers } = whole.headers
  expect([same.statusCode, same.body, same.headers]).toEqual([304, '', { ...headers, date: same.headers.date }])
  await server.patch('/v1/store/orders/2', { status: 'cancelled' })
  const changed = await server.get(url, { 'if-none-match': etag })
  expect([changed.statusCode, changed.headers.etag]).toEqual([200, writeTag(tagScope, 3)])
  expectError(
    await server.get(`${url}0`, { 'if-none-match': '*' }),
    404,
    url === '/v1/pets/1' ? 'pet_not_found' : 'order_not_found',
  )
})
