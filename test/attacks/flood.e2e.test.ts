import { expect, it } from 'vitest'
import { startService } from '../e2e/service.ts'
import { describeOnLinux } from '../lib/on-linux.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { type Attack, Attackers } from './attackers.ts'
import { memoryGrowthMiB, memoryOf, seenDuring } from './well-behaved.ts'

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

describeOnLinux('requests without an end from one key leave another one served, at half load,', () => {
  it.each([
    ['without limits', {}],
    ['with a rate', { RATE_LIMIT: '6000/1' }],
  ])('%s', async (_, limits) => {
    const API_KEYS = `${flooding},${busy},${watching}`
    const service = await startService({ DATA_DIR: temporaryFolder(), API_KEYS, ...limits })
    const own = new Attackers(Number(new URL(service.url).port), halfLoad)
    const memoryMax = memoryOf(service) + memoryGrowthMiB
    for (const [name, flood] of Object.entries(attacks)) {
      const { statuses, memoryMiB } = await seenDuring(flood, service, { paths: ['/v1/pets?limit=1'], key: watching })
      expect([name, statuses]).toEqual([name, [200]])
      expect(memoryMiB, name).toBeLessThan(memoryMax)
    }
    await own.stop()
    expect(service.output()).not.toMatch(/"level":[56]0/)
  })
})
