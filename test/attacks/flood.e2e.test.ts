import { afterAll, expect, it } from 'vitest'
import { table } from '../../src/cli/output.ts'
import { startService } from '../e2e/service.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { type Attack, Attackers } from './attackers.ts'
import { describeOnLinux, memoryGrowthMiB, watch } from './well-behaved.ts'

const [flooding, busy, watching] = ['the-key-of-one-that-floods', 'the-key-of-a-busy-client', 'the-key-that-is-watched']

/** From each connection a request every 20 ms. */
function load(key: string, connections: number, line: string, body = ''): Attack {
  const length = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]
  const head = [line, 'Host: a', `Authorization: Bearer ${key}`, ...length, '', ''].join('\r\n')
  return { connections, first: head + body, again: head + body, everyMs: 20, reads: true }
}

/** 10,000 requests a second: about what the service can answer. */
const attack = (line: string, body?: string) => load(flooding, 200, line, body)
/** 5,000 a second. */
const halfLoad = load(busy, 100, 'GET /v1/pets/1 HTTP/1.1')
const evilNumber = `{"name":"Rex","categoryId":1.${'0'.repeat(16_000)}1}`
const attacks: Readonly<Record<string, Attack>> = {
  'pages of 100': attack('GET /v1/pets?limit=100 HTTP/1.1'),
  pets: attack('POST /v1/pets HTTP/1.1', '{"name":"Rex","categoryId":7}'),
  'evil numbers': attack('POST /v1/pets HTTP/1.1', evilNumber),
}
const seen: string[][] = []

describeOnLinux.each(Object.entries(attacks))('%s, without an end, from one key', (name, flood) => {
  it.each([
    ['without limits', {}],
    ['with a rate', { RATE_LIMIT: '6000/1' }],
  ])('%s', async (limits, environment) => {
    const service = await startService({
      DATA_DIR: temporaryFolder(),
      API_KEYS: `${flooding},${busy},${watching}`,
      ...environment,
    })
    const port = Number(new URL(service.url).port)
    const own = new Attackers(port, halfLoad)
    const alone = await watch(service, 2000, { key: watching, path: '/v1/pets?limit=1' })
    const attackers = new Attackers(port, flood)
    const during = await watch(service, 4000, { key: watching, path: '/v1/pets?limit=1' })
    await Promise.all([attackers.stop(), own.stop()])
    seen.push([name, limits, alone.p99Ms.toFixed(1), during.p99Ms.toFixed(1), String(during.memoryMiB)])
    expect([...during.statuses]).toEqual([200])
    expect(during.memoryMiB - alone.memoryMiB).toBeLessThan(memoryGrowthMiB)
    expect(service.output()).not.toMatch(/"level":[56]0/)
  })
})

afterAll(() => {
  const header = ['FLOOD', 'LIMITS', 'P99 OF ANOTHER KEY AT HALF LOAD, MS', 'DURING', 'MEMORY, MIB']
  process.stdout.write(`${table(header, seen)}\n`)
})
