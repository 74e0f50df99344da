import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { Environment, Target } from '../brokers/program.ts'
import { freePort } from '../brokers/ready.ts'
import { canMountSmall, empty, fill, mountSmall } from '../campaign/system/small-disk.ts'
import { metric } from '../lib/http-client.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { whenDone } from '../lib/when-done.ts'
import { apiKey, Client, createMany } from './client.ts'
import { serviceCommand, startCommand, untilReady } from './service.ts'

const canMount = await canMountSmall()
const patience = { timeout: 60_000, interval: 100 }

/** Starts a service whose standard output is a file, or a pipe that nobody reads. */
async function startWith(output: Target, environment: Environment = {}) {
  const PORT = String(await freePort())
  const own = { PORT, API_KEYS: apiKey, DATA_DIR: temporaryFolder(), ...environment }
  const service = { ...startCommand(serviceCommand, own, { output }), url: `http://127.0.0.1:${PORT}` }
  return { ...service, client: new Client(service), untilReady: () => untilReady(service) }
}

async function expectServing({ client, url }: Awaited<ReturnType<typeof startWith>>): Promise<void> {
  await client.create('Rex')
  expect(await metric(url, 'petstore_log_lines_lost_total')).toBeGreaterThan(0)
  const { body } = await client.request('/readyz')
  expect(body).toMatchObject({ status: 'ok', checks: { logOutput: { status: 'down' } } })
}

describe('a log that cannot be written is in the way of no request and of no end:', () => {
  it.runIf(existsSync('/dev/full'))('the disk is full', async () => {
    const full = openSync('/dev/full', 'w')
    const service = await startWith(full)
    closeSync(full)
    await service.untilReady()
    await expectServing(service)
    expect(await service.end('SIGTERM')).toBe(0)
  })

  it.runIf(canMount)('the disk is full for some time, and then the log says what is missing', async () => {
    const disk = join(temporaryFolder(), 'disk')
    const stack = new AsyncDisposableStack()
    whenDone(() => stack.disposeAsync())
    await mountSmall(stack, disk, 1)
    const log = openSync(join(disk, 'log'), 'a')
    const service = await startWith(log, { LOG_REQUESTS: 'true' })
    closeSync(log)
    await service.untilReady()
    await fill(disk)
    await createMany(service.client, 50)
    await expectServing(service)
    empty(disk)
    const lines = await vi.waitFor(() => {
      const text = readFileSync(join(disk, 'log'), 'utf8')
      expect(text).toContain('"lost":')
      return text.trimEnd().split('\n')
    }, patience)
    const lost = await metric(service.url, 'petstore_log_lines_lost_total')
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ level: 40, lost })
    expect(await service.end('SIGTERM')).toBe(0)
    expect(readFileSync(join(disk, 'log'), 'utf8')).toMatch(/"msg":"closed"\}\n$/)
  })

  it('whoever read it has gone', async () => {
    const service = await startWith('closed')
    await service.untilReady()
    await expectServing(service)
    expect(await service.end('SIGTERM')).toBe(0)
  })

  it('whoever reads it stands still', async () => {
    const service = await startWith('unread', { LOG_LEVEL: 'debug' }) // a line for each request
    await service.untilReady()
    let requests = 0
    while ((await metric(service.url, 'petstore_log_lines_lost_total')) === 0) {
      await Promise.all(Array.from({ length: 200 }, () => service.client.list()))
      requests += 200
      expect(requests).toBeLessThan(20_000)
    }
    await expectServing(service)
    expect(await service.end('SIGTERM')).toBe(0)
  })
})
