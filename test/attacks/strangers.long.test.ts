import { expect, it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { apiKey, Client } from '../e2e/client.ts'
import { brokerEnvironment, type Environment, serviceCommand, startService } from '../e2e/service.ts'
import { describeOnLinux } from '../lib/on-linux.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import type { Attack } from './attackers.ts'
import { memoryGrowthMiB, memoryOf, seenDuring } from './well-behaved.ts'

const head = (line: string, ...headers: string[]) => [line, 'Host: a', ...headers, '', ''].join('\r\n')
const get = (path: string) => head(`GET ${path} HTTP/1.1`)
const script = get('/docs/static/swagger-ui-bundle.js')
const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`
const endless = head('POST /v1/pets HTTP/1.1', 'Content-Type: application/json', 'Transfer-Encoding: chunked')

type Attacks = Readonly<Record<string, Attack>>

/** What somebody without a key can send. */
const flooding: Attacks = {
  '3,000 requests sent at once on a connection': { connections: 1, first: get('/v1/pets').repeat(3000), reads: true },
  '13 connections that never stop sending requests': {
    connections: 13,
    first: '',
    again: get('/openapi.json').repeat(100),
    reads: true,
  },
  '50 bodies without an end': { connections: 50, first: endless, again: chunk, reads: true },
}
const attacks: Attacks = {
  ...flooding,
  '13 such connections that read nothing': { connections: 13, first: '', again: get('/openapi.json').repeat(100) },
  '200 connections that do not read what they asked for': { connections: 200, first: script.repeat(20) },
  '50 broken requests behind answers that are not read, and bytes without an end': {
    connections: 50,
    first: `${script.repeat(20)}rubbish\r\n\r\n`,
    again: 'x',
  },
  '50 bodies of single bytes behind answers that are not read': {
    connections: 50,
    first: script.repeat(20) + endless + '1\r\nx\r\n'.repeat(70_000),
  },
  '50 tunnels that are reset': { connections: 50, first: head('CONNECT a:1 HTTP/1.1'), resets: true },
  '1,000 connections that say nothing': { connections: 1000, first: '' },
  '1,000 connections of three addresses that say nothing': {
    connections: 1000,
    first: '',
    from: ['127.0.0.2', '127.0.0.3', '127.0.0.4'],
  },
  '200 connections that never finish a request': {
    connections: 200,
    first: 'GET / HTTP/1.1\r\n',
    again: 'X: y\r\n',
    everyMs: 500,
  },
  '200 requests for half of a file': {
    connections: 200,
    first: head('GET /docs/static/swagger-ui.css HTTP/1.1', 'Range: bytes=99999999-', 'If-Match: "x"'),
    again: head('QUERY /docs/static/%00 HTTP/1.1'),
    everyMs: 20,
    reads: true,
  },
}

const descriptorsMax = 512

describeOnLinux('strangers take no more than their share, and others are served', () => {
  it('of an embedded service', async () => {
    await expectHolds(attacks, { DATA_DIR: temporaryFolder(), LOG_LEVEL: 'warn' })
  })

  describeWithBrokers('on Kafka and Redis', (brokers) => {
    it('of a process with ROLE=api', async () => {
      const environment = brokerEnvironment(brokers)
      await startService({ ...environment, ROLE: 'projector' })
      await expectHolds(flooding, { ...environment, ROLE: 'api' })
    })
  })
})

async function expectHolds(these: Attacks, environment: Environment): Promise<void> {
  const limit = ['prlimit', `--nofile=${descriptorsMax}:${descriptorsMax}`, ...serviceCommand]
  const service = await startService(environment, limit)
  const client = new Client(service)
  const { id } = await client.create('Rex')
  await expect.poll(async () => (await client.get(id)).status, { timeout: 10_000 }).toBe(200)
  const memoryMax = memoryOf(service) + memoryGrowthMiB
  for (const [name, attack] of Object.entries(these)) {
    const asked = { paths: [`/v1/pets/${id}`], key: apiKey }
    const { memoryMiB, descriptors, statuses } = await seenDuring(attack, service, asked)
    expect([name, statuses]).toEqual([name, [200]])
    expect((await client.request('/livez')).status, name).toBe(200)
    expect((await createSurely(client, 'Bello', name)).name, name).toBe('Bello')
    expect(descriptors, name).toBeLessThan(descriptorsMax)
    expect(memoryMiB, name).toBeLessThan(memoryMax)
  }
  // A stranger's doing is no error of the service.
  expect(service.output()).not.toMatch(/"level":[56]0/)
  expect(await service.end('SIGTERM'), service.output()).toBe(0)
}

/** A broker that a busy machine keeps waiting is no doing of strangers: what it did not confirm is sent again. */
async function createSurely(client: Client, name: string, key: string): Promise<{ readonly name: string }> {
  const send = () => client.post({ name, categoryId: 1 }, { 'idempotency-key': `"${key}"` })
  await expect.poll(async () => (await send()).status, { timeout: 30_000 }).toBe(201)
  return (await send()).body as { readonly name: string }
}
