import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { freePort } from '../brokers/ready.ts'
import { canMountSmall, empty, fill, mountSmall } from '../campaign/system/small-disk.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { whenDone } from '../lib/when-done.ts'
import { apiKey, Client, createMany } from './client.ts'
import { metric, serviceCommand } from './service.ts'

const [node = '', main = ''] = serviceCommand
const canMount = await canMountSmall()
const patience = { timeout: 60_000, interval: 100 }

/** Starts a service whose standard output is a file, or a pipe that the test reads or not. Resolves once it is ready. */
async function startWith(output: number | 'pipe', environment: Readonly<Record<string, string>> = {}) {
  const port = await freePort()
  const env = { PORT: String(port), API_KEYS: apiKey, DATA_DIR: temporaryFolder(), ...environment }
  const child = spawn(node, [main], { env, stdio: ['ignore', output, 'ignore'] })
  whenDone(() => end(child, 'SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  async function untilReady(): Promise<void> {
    const isReady = async () => expect((await fetch(`${url}/readyz`)).status).toBe(200)
    await vi.waitFor(isReady, patience)
  }
  return { child, url, client: new Client({ url }), untilReady }
}

/** Resolves to its exit code. */
async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, 'exit')
  child.kill(signal)
  const [code] = await exited
  return code
}

async function expectServing({ client, url }: Awaited<ReturnType<typeof startWith>>): Promise<void> {
  await client.create('Rex')
  expect(await metric(url, 'petstore_log_lines_lost_total')).toBeGreaterThan(0)
  const readiness = await (await fetch(`${url}/readyz`)).json()
  expect(readiness).toMatchObject({ status: 'ok', checks: { logOutput: { status: 'down' } } })
}

describe('a log that cannot be written is in the way of no request and of no end:', () => {
  it.runIf(existsSync('/dev/full'))('the disk is full', async () => {
    const full = openSync('/dev/full', 'w')
    const service = await startWith(full)
    closeSync(full)
    await service.untilReady()
    await expectServing(service)
    expect(await end(service.child, 'SIGTERM')).toBe(0)
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
    expect(await end(service.child, 'SIGTERM')).toBe(0)
    expect(readFileSync(join(disk, 'log'), 'utf8')).toMatch(/"msg":"closed"\}\n$/)
  })

  it('whoever read it has gone', async () => {
    const service = await startWith('pipe')
    service.child.stdout?.destroy()
    await service.untilReady()
    await expectServing(service)
    expect(await end(service.child, 'SIGTERM')).toBe(0)
  })

  it('whoever reads it stands still', async () => {
    const service = await startWith('pipe', { LOG_LEVEL: 'debug' }) // a line for each request
    await service.untilReady()
    let requests = 0
    while ((await metric(service.url, 'petstore_log_lines_lost_total')) === 0) {
      await Promise.all(Array.from({ length: 200 }, () => service.client.list()))
      requests += 200
      expect(requests).toBeLessThan(20_000)
    }
    await expectServing(service)
    expect(await end(service.child, 'SIGTERM')).toBe(0)
  })
})
