import { afterAll, expect, it } from 'vitest'
import { table } from '../../src/cli/output.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client } from '../e2e/client.ts'
import { brokerEnvironment, type Environment, serviceCommand, startService } from '../e2e/service.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { type Attack, Attackers } from './attackers.ts'
import { describeOnLinux, memoryGrowthMiB, type Seen, watch } from './well-behaved.ts'

const head = (line: string, ...headers: string[]) => [line, 'Host: a', ...headers, '', ''].join('\r\n')
const get = (path: string) => head(`GET ${path} HTTP/1.1`)
const script = get('/docs/static/swagger-ui-bundle.js')
const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`
const endless = head('POST /v1/pets HTTP/1.1', 'Content-Type: application/json', 'Transfer-Encoding: chunked')

/** What somebody without a key can send. */
const attacks = {
  '3,000 requests sent at once on a connection': { connections: 1, first: get('/v1/pets').repeat(3000), reads: true },
  '13 connections that never stop sending requests': {
    connections: 13,
    first: '',
    again: get('/openapi.json').repeat(100),
    reads: true,
  },
  '13 such connections that read nothing': { connections: 13, first: '', again: get('/openapi.json').repeat(100) },
  '200 connections that do not read what they asked for': { connections: 200, first: script.repeat(20) },
  '1,000 connections that say nothing': { connections: 1000, first: '' },
  '200 connections that never finish a request': {
    connections: 200,
    first: 'GET / HTTP/1.1\r\n',
    again: 'X: y\r\n',
    everyMs: 500,
  },
  '50 bodies without an end': { connections: 50, first: endless, again: chunk, reads: true },
  '200 requests for half of a file': {
    connections: 200,
    first: head('GET /docs/static/swagger-ui.css HTTP/1.1', 'Range: bytes=99999999-', 'If-Match: "x"'),
    again: head('QUERY /docs/static/%00 HTTP/1.1'),
    everyMs: 20,
    reads: true,
  },
} satisfies Readonly<Record<string, Attack>>

const seen: Record<string, Seen & { readonly alone: number }> = {}
const descriptorsMax = 512

describeOnLinux.each(Object.entries(attacks))('%s', (name, attack) => {
  it('stays within its share, and others are served', async () => {
    await expectHolds(name, attack, { DATA_DIR: temporaryFolder(), LOG_LEVEL: 'warn' })
  })
})

describeWithBrokers('on Kafka and Redis, a process with ROLE=api', (brokers) => {
  describeOnLinux.each([
    '3,000 requests sent at once on a connection',
    '13 connections that never stop sending requests',
    '50 bodies without an end',
  ] as const)('%s', (name) => {
    it('takes no more than its share, and others are served', async () => {
      const environment = brokerEnvironment(brokers)
      await startService({ ...environment, ROLE: 'projector' })
      await expectHolds(`${name}, ROLE=api`, attacks[name], { ...environment, ROLE: 'api' })
    })
  })
})

async function expectHolds(name: string, attack: Attack, environment: Environment): Promise<void> {
  const limit = ['prlimit', `--nofile=${descriptorsMax}:${descriptorsMax}`, ...serviceCommand]
  const service = await startService(environment, limit)
  const client = new Client(service)
  const { id } = await client.create('Rex')
  await expect.poll(async () => (await client.get(id)).status, { timeout: 10_000 }).toBe(200)
  const watched = { path: `/v1/pets/${id}` }
  const alone = await watch(service, 1000, watched)
  const attackers = new Attackers(Number(new URL(service.url).port), attack)
  const during = await watch(service, 4000, watched)
  seen[name] = { ...during, alone: alone.p99Ms }
  expect([...during.statuses]).toEqual([200])
  expect((await client.request('/livez')).status).toBe(200)
  expect((await client.create('Bello')).name).toBe('Bello')
  await attackers.stop()
  expect(during.descriptors).toBeLessThan(descriptorsMax)
  expect(during.memoryMiB - alone.memoryMiB).toBeLessThan(memoryGrowthMiB)
  // A stranger's doing is no error of the service.
  expect(service.output()).not.toMatch(/"level":[56]0/)
  expect(await service.end('SIGTERM'), service.output()).toBe(0)
}

afterAll(() => {
  const rows = Object.entries(seen).map(([name, { alone, p99Ms, memoryMiB, descriptors }]) => {
    const times = [alone, p99Ms].map((ms) => ms.toFixed(1))
    return [name, ...times, String(memoryMiB), String(descriptors)]
  })
  process.stdout.write(`${table(['ATTACK', 'P99 ALONE, MS', 'P99 DURING', 'MEMORY, MIB', 'DESCRIPTORS'], rows)}\n`)
})
