import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, vi } from 'vitest'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

export const apiKey = 'key-of-the-tests'

/** The service as a process of its own, as an operator runs it. */
export interface ServiceProcess {
  readonly url: string
  readonly pid: number
  /** Everything it printed so far. */
  readonly output: () => string
  readonly running: () => boolean
  /** Resolves to the exit code once it is gone, by itself or not; null when a signal ended it. */
  readonly ended: Promise<number | null>
  /** Sends the signal; resolves as `ended` does. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

export type Environment = Readonly<Record<string, string>>

function spawnService(environment: Environment): { child: ChildProcess; output: () => string } {
  const { PATH } = process.env
  const child = spawn(process.execPath, [main], {
    env: { PATH, PORT: '0', API_KEYS: apiKey, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => chunks.push(chunk))
  return { child, output: () => Buffer.concat(chunks).toString() }
}

/** Kafka and Redis for one test: a topic and a prefix of its own, and a folder for keys. */
export function brokerEnvironment({ kafkaBrokers, redisUrl }: { kafkaBrokers: string; redisUrl: string }) {
  const name = `e2e-${randomUUID()}`
  return {
    KAFKA_BROKERS: kafkaBrokers,
    REDIS_URL: redisUrl,
    KAFKA_TOPIC: name,
    REDIS_PREFIX: name,
    DATA_DIR: dataFolder(),
  }
}

/** A folder that goes with the test. */
export function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-e2e-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Starts the service on a free port; resolves once it is ready. It ends with the test. */
export async function startService(environment: Environment): Promise<ServiceProcess> {
  const service = await startUnready(environment)
  await untilReady(service)
  return service
}

/** As `startService`, but resolves once it takes connections. */
export async function startUnready(environment: Environment): Promise<ServiceProcess> {
  const { child, output } = spawnService(environment)
  onTestFinished(async () => void (await end('SIGKILL')))

  const running = () => child.exitCode === null && child.signalCode === null
  const ended = once(child, 'exit').then(() => child.exitCode)
  function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    if (running()) child.kill(signal)
    return ended
  }

  const url = await vi.waitFor(
    () => {
      expect(running(), output()).toBe(true)
      const found = /(http:\/\/127\.0\.0\.1:\d+)/.exec(output())?.[1]
      expect(found, output()).toBeDefined()
      return found as string
    },
    { timeout: 60_000 },
  )
  return { url, pid: child.pid as number, output, running, ended, end }
}

/** Starts a service that should refuse to run: resolves to what it printed and its exit code. */
export async function startRefused(environment: Environment): Promise<{ output: string; code: number | null }> {
  const { child, output } = spawnService(environment)
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'close')
  return { output: output(), code: child.exitCode }
}

export async function untilReady({ url, output }: Pick<ServiceProcess, 'url' | 'output'>): Promise<void> {
  await vi.waitFor(
    async () => {
      const response = await fetch(`${url}/readyz`)
      expect(response.status, `${await response.text()}\n${output()}`).toBe(200)
    },
    { timeout: 60_000, interval: 100 },
  )
}
