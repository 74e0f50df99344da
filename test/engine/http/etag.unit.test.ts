import { describe, expect, it } from 'vitest'
import { checkIfMatch, isNamed, readConditions, tagOf } from '../../../src/engine/http/values/conditions.ts'
import { headerOf, testServer } from './test-services.ts'

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
    const check = () => checkIfMatch(readConditions({ 'if-match': header }), tagOf(json))
    if (ifMatch) check()
    else expect(check).toThrow('does not have the entity tag of the present state')
    expect(isNamed(readConditions({ 'if-none-match': header }), tagOf(json))).toBe(ifNoneMatch)
  })

  const malformed = ['', ', ,', tag.slice(1, -1), tag.slice(0, -1), `w/${tag}`, 'W/', `${tag} ${tag}`, `*, ${tag}`]
  const unprintable = ['"*" x', '"a b"', '"a\u0001b"', `"a"${' '.repeat(10_000)}x`]
  it.each([...malformed, ...unprintable])('malformed is refused: %.40j', (header) => {
    for (const name of ['if-match', 'if-none-match'])
      expect(() => readConditions({ [name]: header })).toThrow('must be * or a list of entity tags')
  })
})

it('a state that comes back has its tag again, and another one has another', async () => {
  await server.post('/v1/seats', { name: 'A12', rowId: 7 })
  const tagNow = async () => headerOf(await server.get('/v1/seats/1'), 'etag')
  const available = await tagNow()
  await server.post('/v1/bookings', { seatId: 1 })
  expect(await tagNow()).not.toBe(available)
  await server.patch('/v1/bookings/2', { status: 'cancelled' })
  expect(await tagNow()).toBe(available)
})
