import { beforeEach, describe, expect, it } from 'vitest'
import { checkIfMatch, isNamed, readConditions, tagOf } from '../../../src/engine/http/values/conditions.ts'
import { expectError, headerOf, testServer } from './test-services.ts'

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
  it.each([...malformed, ...unprintable])('malformed is 400: %.40j', async (header) => {
    const answers = [
      await server.get('/v1/seats/1', { 'if-none-match': header }),
      await server.get('/v1/bookings/1', { 'if-match': header }),
      await server.get('/v1/seats', { 'if-match': header }),
      await server.get('/v1/seats/1/events', { 'if-none-match': header }),
      await server.post('/v1/seats', { name: 'A12', rowId: 7 }, { 'if-match': header }),
      await server.post('/v1/bookings', { seatId: 1 }, { 'if-none-match': header }),
      await server.patch('/v1/bookings/1', { status: 'approved' }, { 'if-match': header }),
    ]
    for (const answer of answers) expectError(answer, 400, 'invalid_request', 'must be * or a list of entity tags')
    expect(server.services.atLeast).toEqual([])
  })
})

it.each(['/v1/seats/1', '/v1/bookings/2'])('GET %s is 304 for a client that has it as it is', async (url) => {
  await server.post('/v1/seats', { name: 'A12', rowId: 7 })
  await server.post('/v1/bookings', { seatId: 1 })
  const whole = await server.get(url)
  const etag = headerOf(whole, 'etag')
  expect(whole.headers).toMatchObject({
    etag: `"${tagOf(whole.body)}"`,
    'cache-control': 'private, no-cache, no-transform',
  })
  const same = await server.get(url, { 'if-none-match': `W/${etag}` }) // as a proxy that compresses it hands it on
  const { 'content-type': _type, 'content-length': _length, ...headers } = whole.headers
  expect([same.statusCode, same.body, same.headers]).toEqual([304, '', { ...headers, date: same.headers.date }])
  await server.patch('/v1/bookings/2', { status: 'cancelled' })
  const changed = await server.get(url, { 'if-none-match': etag })
  expect([changed.statusCode, changed.headers.etag]).toEqual([200, `"${tagOf(changed.body)}"`])
  expectError(
    await server.get(`${url}0`, { 'if-none-match': '*' }),
    404,
    url === '/v1/seats/1' ? 'seat_not_found' : 'booking_not_found',
  )
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

describe('a condition that does not hold is 412', () => {
  const isOther = 'header: If-Match does not have the entity tag of the present state'
  const other = `"${tagOf(changed)}"`
  beforeEach(async () => {
    await server.post('/v1/seats', { name: 'A12', rowId: 7 })
    await server.post('/v1/bookings', { seatId: 1 })
  })

  it.each(['/v1/seats/1', '/v1/bookings/2'])('when %s is read, also by HEAD', async (url) => {
    const etag = headerOf(await server.get(url), 'etag')
    for (const holds of [etag, '*', `${other}, ${etag}`]) {
      expect((await server.get(url, { 'if-match': holds })).statusCode).toBe(200)
    }
    expectError(await server.get(url, { 'if-match': other }), 412, 'precondition_failed', isOther)
    expectError(
      await server.get(url, { 'if-match': other, 'if-none-match': etag }),
      412,
      'precondition_failed',
      isOther,
    )
    expect((await server.send('HEAD', url, undefined, { 'if-match': other })).statusCode).toBe(412)
    expect((await server.get(url, { 'if-match': etag, 'if-none-match': etag })).statusCode).toBe(304)
    expect((await server.get(`${url}0`, { 'if-match': other })).statusCode).toBe(404)
  })

  it('when a booking is changed, and says of a weak tag that it never matches', async () => {
    const url = '/v1/bookings/2'
    const etag = headerOf(await server.get(url), 'etag')
    const approve = (headers: Record<string, string>) => server.patch(url, { status: 'approved' }, headers)
    const stale = await approve({ 'if-match': other })
    expectError(stale, 412, 'precondition_failed', isOther)
    expect(stale.json().message).toBe(isOther)
    const isWeak = `${isOther}; weak tags (W/"…") never match: send the tag without W/`
    expectError(await approve({ 'if-match': `W/${etag}` }), 412, 'precondition_failed', isWeak)
    for (const named of [etag, `W/${etag}`, '*']) {
      const isThere = 'header: If-None-Match names what is there'
      expectError(await approve({ 'if-none-match': named }), 412, 'precondition_failed', isThere)
    }
    expect(server.services.events).toHaveLength(2)
    expect((await approve({ 'if-match': etag, 'if-none-match': other })).statusCode).toBe(200)
  })

  it.each(['/v1/seats', '/v1/bookings', '/v1/seats/1/events'])('for %s, which has no tag', async (url) => {
    const none = 'header: If-Match cannot hold, since there is no entity tag'
    expectError(await server.get(url, { 'if-match': other }), 412, 'precondition_failed', none)
    expect((await server.get(url, { 'if-match': '*', 'if-none-match': other })).statusCode).toBe(200)
  })

  it.each<[url: string, body: object]>([
    ['/v1/seats', { name: 'Mia', rowId: 7 }],
    ['/v1/bookings', { seatId: 1 }],
  ])('for a POST to %s, which then stores nothing', async (url, body) => {
    for (const header of [{ 'if-match': other }, { 'if-none-match': '*' }]) {
      expectError(await server.post(url, body, header), 412, 'precondition_failed')
    }
    expect(server.services.events).toHaveLength(2)
    expect((await server.post('/v1/seats', { name: 'Mia', rowId: 7 }, { 'if-match': '*' })).statusCode).toBe(201)
  })
})
