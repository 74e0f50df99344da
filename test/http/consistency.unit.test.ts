import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readTokens, writeToken } from '../../src/http/consistency-token.ts'
import { preferredWait } from '../../src/http/prefer.ts'
import { seal } from '../../src/http/sealed-text.ts'
import { ServiceError } from '../../src/lib/errors.ts'
import type { Wait } from '../../src/read-models/applied-progress.ts'
import { expectError } from './expect-error.ts'
import { authorization, FakeServices, openApp, tokenScope } from './fake-services.ts'

let services: FakeServices
let app: Awaited<ReturnType<typeof openApp>>
beforeEach(async () => {
  services = new FakeServices()
  app = await openApp(services)
})
afterEach(() => app.close())

const payload = { name: 'Rex', categoryId: 7 }
const post = (headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: '/v1/pets', payload, headers: { authorization, ...headers } })
const get = (url: string, headers: Record<string, string>) =>
  app.inject({ url, headers: { authorization, ...headers } })

describe('Prefer', () => {
  it.each([
    ['wait=0', 0],
    ['wait=3', 3],
    ['wait=10', 10],
    ['wait=999', 10],
    ['wait=99999999999999999999999', 10],
    ['Wait = 3', 3],
    ['wait="3"', 3],
    ['wait=3; respond-async', 3],
    ['respond-async, wait=3', 3],
    ['wait=3, wait=5', 3],
  ])('%s makes a POST wait %d seconds at most, and the answer says so', async (prefer, seconds) => {
    const response = await post({ prefer })
    expect(services.waits).toMatchObject([{ timeoutMs: seconds * 1000 }])
    expect(response.headers).toMatchObject({ 'preference-applied': `wait=${seconds}`, vary: 'Prefer' })
  })

  it.each(['wait=-1', 'wait', 'wait=', 'wait=1.5', 'wait=1s', 'wait=0x5', 'wait="1', 'waiting=5', '', 'é', ',;="'])(
    '%j is ignored',
    async (prefer) => {
      const response = await post({ prefer })
      expect(response.statusCode).toBe(201)
      expect(services.waits).toMatchObject([{ timeoutMs: 1000 }])
      expect(response.headers).not.toHaveProperty('preference-applied')
    },
  )

  it('never makes a wait of anything but 0 to 10 seconds', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.string().map((text) => `wait=${text}`),
        ),
        (prefer) => {
          expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).toContain(preferredWait(prefer).seconds)
        },
      ),
    )
  })

  it('a wait ends when the client goes', async () => {
    let isAbandoned: Wait['isAbandoned']
    const waiting = Promise.withResolvers<boolean>()
    const api = {
      ...services.api,
      whenApplied: (_position: unknown, wait: Wait) => {
        isAbandoned = wait.isAbandoned
        return waiting.promise
      },
    }
    const other = await openApp({ ...services, draining: services.draining, api })
    const url = await other.listen({ port: 0 })
    const gone = new AbortController()
    const headers = { authorization, 'content-type': 'application/json' }
    const body = JSON.stringify(payload)
    const answer = fetch(`${url}/v1/pets`, { method: 'POST', headers, body, signal: gone.signal })
    await expect.poll(() => isAbandoned?.()).toBe(false)
    gone.abort()
    await expect(answer).rejects.toThrow()
    await expect.poll(() => isAbandoned?.()).toBe(true)
    waiting.resolve(false)
    await other.close()
  })
})

describe('a Consistency-Token', () => {
  it('comes with every 201, and names the position of the event', async () => {
    await post()
    const token = String((await post()).headers['consistency-token'])
    expect(readTokens(tokenScope, token)).toEqual([{ partition: 0, offset: 1 }])
  })

  it.each(['/v1/pets', '/v1/pets/1', '/v1/pets?status=available'])('is honoured by GET %s', async (url) => {
    const token = String((await post()).headers['consistency-token'])
    const plain = await get(url, { 'consistency-token': token })
    expect([plain.statusCode, plain.headers.vary]).toEqual([200, 'Consistency-Token, Prefer'])
    const waiting = await get(url, { 'consistency-token': token, prefer: 'wait=7' })
    expect(waiting.headers['preference-applied']).toBe('wait=7')
    const positions = [{ partition: 0, offset: 0 }]
    expect(services.atLeast).toEqual([
      { positions, timeoutMs: 1000 },
      { positions, timeoutMs: 7000 },
    ])
  })

  it.each([',', ', ', ' ,\t'])('can stand beside others, separated by %j', async (separator) => {
    const positions = [0, 5, 3].map((partition) => ({ partition, offset: partition * 100 }))
    const tokens = positions.map((position) => writeToken(tokenScope, position)).join(separator)
    await get('/v1/pets', { 'consistency-token': tokens })
    expect(services.atLeast).toMatchObject([{ positions }])
  })

  it('not reached in time is 503, with the time to try again', async () => {
    services.reads = {
      range: async () => {
        throw new ServiceError('read_model_behind', 'not yet')
      },
    }
    const token = writeToken(tokenScope, { partition: 1, offset: 1 })
    for (const url of ['/v1/pets', '/v1/pets/1']) {
      const response = await get(url, { 'consistency-token': token })
      expectError(response, 503, 'read_model_behind')
      expect(response.headers['retry-after']).toBe('1')
    }
  })

  const whole = writeToken(tokenScope, { partition: 5, offset: 123456 })
  it.each([
    ['cut short', whole.slice(0, -1)],
    ['cut in the middle', whole.slice(0, 20)],
    ['with text behind it', `${whole}A`],
    ['empty', ''],
    ['one of several that is missing', `${whole},`],
    ['one of several that is damaged', `${whole}, ${whole.slice(1)}`],
    ['anything', 'anything'],
    ['made by hand without a checksum', Buffer.from('epoch-1:0:0').toString('base64url')],
    ['of a partition that is not there', seal('epoch-1:6:0')],
    ['with an offset that is none', seal('epoch-1:0:-1')],
    ['with an offset beyond 2^53', seal('epoch-1:0:9007199254740992')],
    ['with a partition of many digits', seal('epoch-1:0000000000:1')],
  ])('%s is 400', async (_, token) => {
    for (const url of ['/v1/pets', '/v1/pets/1']) {
      expectError(await get(url, { 'consistency-token': token }), 400, 'invalid_consistency_token')
    }
    expect(services.atLeast).toEqual([])
  })

  it('of another event log is 400, and says so', async () => {
    const foreign = writeToken({ ...tokenScope, epoch: 'epoch-0' }, { partition: 0, offset: 0 })
    const response = await get('/v1/pets', { 'consistency-token': foreign })
    expectError(response, 400, 'invalid_consistency_token', 'another event log')
  })

  it('gives back any position', () => {
    const position = fc.record({ partition: fc.nat(5), offset: fc.maxSafeNat() })
    fc.assert(
      fc.property(fc.uuid(), position, (epoch, at) => {
        const scope = { epoch, partitions: 6 }
        expect(readTokens(scope, writeToken(scope, at))).toEqual([at])
      }),
    )
  })
})

it('without a token a GET waits for nothing, whatever it prefers', async () => {
  const response = await get('/v1/pets', { prefer: 'wait=5' })
  expect(services.atLeast).toEqual([])
  expect(response.headers).not.toHaveProperty('preference-applied')
})
