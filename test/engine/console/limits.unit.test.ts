import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../brokers/ready.ts'
import { eventually } from '../../lib/eventually.ts'
import { type Refused, useTheatre } from './console-theatre.ts'

const adminPort = await freePort()
const rated = useTheatre({ RATE_LIMIT: '4/60' })
const bounded = useTheatre({ MAX_IN_FLIGHT_PER_KEY: '2', ADMIN_PORT: String(adminPort) })

describe('what the console asks for counts as what any client of its API key does', () => {
  it('in the rate, reads and writes separately', async () => {
    const { key } = rated.issue('busy', ['read', 'operate'])
    const paths = ['v1/seats', 'console/api/status', 'v1/seats', 'console/api/parked']
    for (const path of paths) expect((await rated.ask(path, { key })).status).toBe(200)
    for (const path of ['console/api/status', 'v1/seats']) {
      const { status, headers, body } = await rated.ask<Refused>(path, { key })
      expect([status, body.message]).toEqual([429, 'This API key has sent the 4 reads that it may send in 60 s.'])
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(50)
      expect(headers.get('ratelimit-policy')).toBe('"reads";q=4;w=60')
    }
    const write = { method: 'POST', key, body: { reason: 'none' } }
    expect((await rated.ask('console/api/parked/0/0/discard', write)).status).toBe(404)
  })

  it('in flight, on the admin port as on that of the API', async () => {
    const { key } = bounded.issue('watching', ['read'])
    const headers = { authorization: `Bearer ${key}` }
    const left = new AbortController()
    onTestFinished(() => left.abort())
    const { url } = bounded
    const atAdmin = `http://127.0.0.1:${adminPort}`
    const follow = (address: string) => fetch(address, { headers, signal: left.signal })
    const watching = await Promise.all([follow(`${atAdmin}/console/api/tail`), follow(`${url}/v1/events`)])
    expect(watching.map(({ status }) => status)).toEqual([200, 200])
    const paths = [`${url}/v1/seats`, `${atAdmin}/v1/seats`, `${atAdmin}/console/api/status`]
    async function statuses(): Promise<number[]> {
      const found = []
      for (const path of paths) found.push((await fetch(path, { headers })).status)
      return found
    }
    expect(await statuses()).toEqual([429, 429, 429])
    expect((await bounded.ask('v1/seats')).status).toBe(200) // of another owner
    left.abort()
    await eventually(async () => expect(await statuses()).toEqual([200, 200, 200]))
  })
})
