import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CommandOptions } from '../../../src/engine/commands/command-handler.ts'
import { readTokens, seal, writeToken } from '../../../src/engine/http/values/tokens.ts'
import type { Position } from '../../../src/engine/log/event-log.ts'
import { eventually } from '../../lib/eventually.ts'
import { authorization, expectError, openServer, testServer, theatreServices, tokenScope } from './test-services.ts'

const server = testServer()
const a12 = { name: 'A12', rowId: 7, status: 'available' } as const
const post = (headers: Record<string, string> = {}) => server.post('/v1/seats', a12, headers)
const timeouts = () => server.services.handled.map(({ wait }) => wait.timeoutMs)
const at = (partition: number, offset: number) => ({ partition, offset })
const tokenOf = (partition: number, offset: number) => writeToken(tokenScope, [at(partition, offset)])

describe('Prefer', () => {
  it.each<[seconds: number, preferences: string[]]>([
    [0, ['wait=0']],
    [
      3,
      [
        'wait=3',
        'Wait = 3',
        'wait="3"',
        'wait=3; respond-async',
        'respond-async, wait=3',
        'wait=3, wait=5',
        'a=", wait=5,", wait=3',
        'a="\\", wait=5, "; b, wait=3',
      ],
    ],
    [10, ['wait=10', 'wait=999', 'wait=99999999999999999999999']],
  ])('makes a POST wait %d seconds at most, and the answer says so', async (seconds, preferences) => {
    for (const prefer of preferences) {
      const { headers } = await post({ prefer })
      expect(headers).toMatchObject({ 'preference-applied': `wait=${seconds}`, vary: 'Prefer' })
      expect(timeouts().at(-1)).toBe(seconds * 1000)
    }
  })

  it.each([
    'wait=-1',
    'wait',
    'wait=',
    'wait=1.5',
    'wait=1s',
    'wait=0x5',
    'wait="1',
    'waiting=5',
    '',
    'é',
    ',;="',
    'a=", wait=5,"',
    'a; wait=5',
    'a=", wait=5',
  ])('%j is ignored', async (prefer) => {
    const response = await post({ prefer })
    expect(response.statusCode).toBe(201)
    expect(timeouts()).toEqual([1000])
    expect(response.headers).not.toHaveProperty('preference-applied')
  })

  it.each([{}, { 'idempotency-key': '"k"' }])('a wait ends when the client goes: %j', async (keyed) => {
    const { promise: held, resolve: end } = Promise.withResolvers<void>()
    let wait: CommandOptions['wait'] | undefined
    const { app, services, listen } = await openServer(theatreServices())
    onTestFinished(() => app.close())
    services.beforeCommand = (options) => {
      wait = options.wait
      return held
    }
    const port = await listen()
    const gone = new AbortController()
    const headers = { authorization, 'content-type': 'application/json', ...keyed }
    const init = { method: 'POST', headers, body: JSON.stringify(a12), signal: gone.signal }
    const answer = fetch(`http://127.0.0.1:${port}/v1/seats`, init)
    await eventually(() => expect(wait?.isAbandoned?.()).toBe(false))
    gone.abort()
    await expect(answer).rejects.toThrow()
    await eventually(() => expect(wait?.isAbandoned?.()).toBe(true))
    end()
  })
})

describe('a Consistency-Token', () => {
  it.each([',', ', ', ' ,\t', ',, , '])('can stand beside others, separated by %j', async (separator) => {
    const tokens = [0, 5, 3, 5].map((partition, index) => tokenOf(partition, index * 100)).join(separator)
    await server.get('/v1/seats', { 'consistency-token': tokens })
    expect(server.services.atLeast).toMatchObject([{ positions: [at(0, 0), at(5, 300), at(3, 200)] }])
  })

  const whole = tokenOf(5, 123456)
  const noOffset = ['f00dcafe-1', 'f00dcafe-1:0:-1', 'f00dcafe-1:0:9007199254740992'].map(seal)
  const noPartition = ['f00dcafe-1:6:0', 'f00dcafe-1:5:0,6:0', 'f00dcafe-1:0000000000:1'].map(seal)
  const packed = ['', 'A', 'AAAA', 'AAAAAAAAAA', 'A'.repeat(56)].map((text) => seal(`f00dcafe-1:~${text}`))
  const unsealed = Buffer.from('f00dcafe-1:0:0').toString('base64url')
  it.each([
    ...[
      '',
      'anything',
      unsealed,
      whole.slice(0, -1),
      whole.slice(0, 20),
      `${whole}A`,
      ...noOffset,
      ...noPartition,
      ...packed,
    ],
    ...[',', ' , ,', `${whole}, ${whole.slice(1)}`, new Array(257).fill(whole).join()], // several, not all of them valid
  ])('%.80s is 400', async (token) => {
    expectError(await server.get('/v1/seats', { 'consistency-token': token }), 400, 'invalid_consistency_token')
  })

  it('of another event log is 400, and says so', async () => {
    const foreign = writeToken({ ...tokenScope, logId: 'f00dcafe-0' }, [at(0, 0)])
    const response = await server.get('/v1/seats', { 'consistency-token': foreign })
    expectError(response, 400, 'invalid_consistency_token', 'another event log')
  })

  it('gives back any positions, the furthest of each partition', () => {
    const offset = fc.oneof(fc.nat(), fc.maxSafeNat())
    const position = (most: fc.Arbitrary<number>) => fc.record({ partition: fc.nat(255), offset: most })
    const few = fc.array(position(offset), { minLength: 1 })
    const many = fc
      .nat({ max: 2 ** 31 - 1 })
      .chain((max) => fc.array(position(fc.nat(max)), { minLength: 80, maxLength: 500 }))
    fc.assert(
      fc.property(fc.uuid(), fc.oneof(few, many), (logId, positions) => {
        const scope = { logId, partitions: 256 }
        const offsets = new Map<number, number>()
        for (const { partition, offset } of positions) {
          offsets.set(partition, Math.max(offset, offsets.get(partition) ?? 0))
        }
        const furthest = [...offsets].map(([partition, offset]) => at(partition, offset))
        const read = readTokens(scope, writeToken(scope, positions))
        const inOrder = (each: readonly Position[]) => each.toSorted((a, b) => a.partition - b.partition)
        expect(inOrder(read)).toEqual(inOrder(furthest))
      }),
    )
  })

  it.each([
    [256, 2 ** 48 - 2, 3 * 1024],
    [1000, 2 ** 32 - 2, 7.5 * 1024],
  ])('of %i partitions fits into a header, up to offset %i in each', (partitions, offset, sizeMax) => {
    const scope = { logId: randomUUID(), partitions }
    const positions = Array.from({ length: partitions }, (_, partition) => at(partition, offset))
    const token = writeToken(scope, positions)
    expect(token.length).toBeLessThan(sizeMax)
    expect(readTokens(scope, token)).toEqual(positions)
    const listed = seal(`${scope.logId}:${positions.map((each) => `${each.partition}:${each.offset}`)}`)
    expect(readTokens(scope, listed)).toEqual(positions) // of an earlier release
  })

  it('of the release before is read, and one of a single position is still written like it', () => {
    const token = 'ZjAwZGNhZmUtMTowOjI6OTljYjk2NTE'
    expect(readTokens(tokenScope, token)).toEqual([at(0, 2)])
    expect(tokenOf(0, 2)).toBe(token)
  })
})
