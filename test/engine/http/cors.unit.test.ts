import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeToken } from '../../../src/engine/http/values/tokens.ts'
import { authorization, expectError, openServer, theatreServices, tokenScope } from './test-services.ts'

const origin = 'https://shop.example'
const preflight = {
  origin,
  'access-control-request-method': 'PATCH',
  'access-control-request-headers': 'authorization',
}

const token = writeToken(tokenScope, [{ partition: 0, offset: 0 }])

/** A server that listens: what is injected has no response of its class. */
async function openListening(corsOrigins: readonly string[]) {
  const { services, app, listen } = await openServer(theatreServices(), { corsOrigins })
  const port = await listen()
  async function send(method: string, path: string, headers: Record<string, string>) {
    const all = { authorization, ...headers }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers: all })
    return { statusCode: response.status, headers: Object.fromEntries(response.headers), body: await response.text() }
  }
  return { services, app, port, send }
}

describe('without origins', () => {
  it('no page reads an answer', async () => {
    const { app, send } = await openListening([])
    const { headers } = await send('GET', '/v1/seats', { origin })
    expect(Object.keys(headers).filter((name) => /^(access-control-|vary)/.test(name))).toEqual([])
    expectError(await send('OPTIONS', '/v1/seats', preflight), 405, 'method_not_allowed')
    await app.close()
  })
})

describe('with the origin of a page', () => {
  const server = {} as Awaited<ReturnType<typeof openListening>>
  beforeAll(async () => void Object.assign(server, await openListening([origin])))
  afterAll(() => server.app.close())

  it.each(['/v1/bookings/1', '/v1/seats', '/nothing'])('a preflight for %s is answered', async (url) => {
    const { statusCode, headers, body } = await server.send('OPTIONS', url, { ...preflight, authorization: '' })
    expect([statusCode, body]).toEqual([204, ''])
    expect(headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, HEAD, POST, PATCH, PUT, DELETE',
      'access-control-allow-headers': 'authorization',
      'access-control-max-age': '3600',
      vary: 'Access-Control-Request-Headers, Origin',
    })
    expect(headers).not.toHaveProperty('content-length') // RFC 9110 section 8.6
  })

  const none = {
    'of another origin': { origin: 'https://evil.example' },
    'of no origin': { origin: 'null' },
    'of two origins': { origin: `${origin}, ${origin}` },
    'without a method': { 'access-control-request-method': '' },
    'with a method that is no token': { 'access-control-request-method': 'GET, PUT' },
    'with everything wrong': {
      origin: 'nonsense',
      'access-control-request-method': '<>',
      'access-control-request-headers': ';',
    },
  }
  it.each(Object.entries(none))('a preflight %s is an OPTIONS that no path supports, and counts', async (_, wrong) => {
    const count = () => server.services.traffic.errors.get('method_not_allowed') ?? 0
    const before = count()
    const answer = await server.send('OPTIONS', '/v1/seats', { ...preflight, ...wrong })
    expectError(answer, 405, 'method_not_allowed', 'only GET, HEAD, POST.')
    expect(answer.headers).not.toHaveProperty('access-control-allow-methods')
    expect(count()).toBe(before + 1)
    expectError(await server.send('OPTIONS', '/nothing', { ...preflight, ...wrong }), 404, 'route_not_found')
  })

  it.each<[names: string, allowed: string | undefined]>([
    ['authorization,, prefer ,x-other', 'authorization,, prefer ,x-other'],
    ...[';', 'authorization, "x"', 'a b', '\xe4'].map((names): [string, undefined] => [names, undefined]),
  ])('a preflight that asks for the headers %j is allowed %j', async (names, allowed) => {
    const answer = await server.send('OPTIONS', '/v1/seats', { ...preflight, 'access-control-request-headers': names })
    expect([answer.statusCode, answer.headers['access-control-allow-headers']]).toEqual([204, allowed])
  })

  it.each<[status: number, method: string, url: string]>([
    [200, 'GET', '/v1/seats'],
    [400, 'GET', '/v1/seats?limit=0'],
    [400, 'GET', '/v1/seats/%zz'],
    [404, 'GET', '/v1/seats/1'],
    [404, 'GET', '/nothing'],
    [405, 'PUT', '/v1/seats'],
    [405, 'OPTIONS', '/v1/seats'],
    [400, 'POST', '/v1/seats'],
    [200, 'GET', '/openapi.json'],
    [200, 'GET', '/livez'],
  ])('its page reads the %s of %s %s, and no other page does', async (status, method, url) => {
    const { statusCode, headers } = await server.send(method, url, { origin })
    expect([statusCode, headers['access-control-allow-origin']]).toEqual([status, origin])
    expect(headers['access-control-expose-headers']).toMatch(/Consistency-Token.*Link.*X-Request-Id/)
    const other = await server.send(method, url, { origin: 'https://evil.example' })
    expect(other.headers).not.toHaveProperty('access-control-allow-origin')
    for (const { vary } of [headers, other.headers]) expect(vary).toBe('Origin')
  })

  it('its page reads that it has no key, or a wrong one, and what an answer varies with besides', async () => {
    for (const authorization of ['', 'Bearer wrong']) {
      const { statusCode, headers } = await server.send('GET', '/v1/seats', { origin, authorization })
      expect([statusCode, headers['access-control-allow-origin']]).toEqual([401, origin])
    }
    const { headers } = await server.send('GET', '/v1/seats', { origin, prefer: 'wait=0', 'consistency-token': token })
    expect(headers.vary).toBe('Consistency-Token, Prefer, Origin')
  })

  it('any page reads why its request could not be read at all', async () => {
    const socket = connect(server.port, '127.0.0.1')
    socket.write(`GET /v1/seats HTTP/1.1\r\nHost: x\r\nOrigin: ${origin}\r\nX-Long: ${'x'.repeat(17_000)}\r\n\r\n`)
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1.1 431 [\s\S]*\r\naccess-control-allow-origin: \*\r\n/)
    expect(answer).toContain('Link: </docs/errors#headers_too_large>; rel="help"\r\n')
    expect(server.services.traffic.errors.get('headers_too_large')).toBe(1)
  })
})
