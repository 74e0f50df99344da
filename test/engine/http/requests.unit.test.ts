import { describe, expect, it } from 'vitest'
import { testServer } from './test-services.ts'

const server = testServer()
const get = (url: string, headers?: Record<string, string>) => server.get(url, headers)

describe('a command', () => {
  const [trace, parent] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  const ids = `${trace}-${parent}`
  const passedOn: [sent: string, passedOn: string][] = [
    [`00-${ids}-01`, `00-${ids}-01`],
    [`00-${ids}-00`, `00-${ids}-00`],
    [`00-${ids}-03`, `00-${ids}-03`],
    [`cc-${ids}-01`, `00-${ids}-01`],
    [`01-${ids}-fe-what-comes-later`, `00-${ids}-00`],
  ]
  const malformed = [
    ...['nonsense', '', '00', ids, `00-${ids}`, `00-${ids}-`, `0-${ids}-01`, `00-${ids}-1`, `00_${trace}_${parent}_01`],
    ...[`00-${ids}-01-x`, `00-${ids}-01-`, `00-${ids}-011`, `cc-${ids}-01x`, `00-${ids}-01, 00-${ids}-01`],
    ...[`ff-${ids}-01`, `ff-${ids}-01-x`, `FF-${ids}-01`, `00-${ids}-0G`, `00-${trace.toUpperCase()}-${parent}-01`],
    ...[`00-${'0'.repeat(32)}-${parent}-01`, `00-${trace}-${'0'.repeat(16)}-01`],
    ...[`00-${trace}0-${parent}-01`, `00-${trace.slice(1)}-${parent}-01`, `00-${trace}-${parent.slice(1)}-01`],
    ...[`00-${ids}-01"`, `00-${ids}-01","x":"`, `00-${trace.replace('0', '٠')}-${parent}-01`, '0'.repeat(200)],
  ].map((sent) => [sent, undefined] as const)
  it.each<readonly [string, string | undefined]>([...passedOn, ...malformed])(
    'traceparent %j is passed on by every command as %j',
    async (traceparent, expected) => {
      await server.post('/v1/seats', { name: 'A12', rowId: 7 }, { traceparent })
      await server.post('/v1/bookings', { seatId: 1 }, { traceparent })
      await server.patch('/v1/bookings/2', { status: 'approved' }, { traceparent })
      expect(server.services.handled.map(({ traceparent }) => traceparent)).toEqual([expected, expected, expected])
    },
  )
})

it.each('/v1/seats/2 /livez /readyz /openapi.json /asyncapi.json'.split(' '))(
  'HEAD %s has the head of GET',
  async (url) => {
    const headers = { 'x-request-id': 'same' }
    const [whole, head] = [await get(url, headers), await server.send('HEAD', url, undefined, headers)]
    expect([head.statusCode, head.body]).toEqual([whole.statusCode, ''])
    expect({ ...head.headers, date: '' }).toEqual({ ...whole.headers, date: '' })
  },
)

describe('X-Request-Id of an error', () => {
  const idFor = async (given: string) => (await get('/nothing', { 'x-request-id': given })).headers['x-request-id']

  it.each(['a', 'client-1', '!~', 'x'.repeat(128)])('%.20s is taken over', async (id) => {
    expect(await idFor(id)).toBe(id)
  })

  it.each(['', ' ', 'two words', 'x'.repeat(129), 'é', 'tab\tbed'])('%.20j is not', async (id) => {
    expect(await idFor(id)).toMatch(/^[\w-]{10,128}$/)
  })

  it('is never the same for two requests', async () => {
    expect(await idFor('')).not.toBe(await idFor(''))
  })
})
