import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { expect, vi } from 'vitest'
import type { Verification } from '../../src/engine/rebuilding/verify.ts'
import { startKafka, startRedis } from '../brokers/brokers.ts'
import {
  type Environment,
  listening,
  type Program,
  type ProgramOptions,
  resultOf,
  runProgram,
} from '../brokers/program.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { whenDone } from '../lib/when-done.ts'
import { apiKey, Client } from './client.ts'

export type { Environment, Program }

export interface ServiceProcess extends Program {
  readonly url: string
}

/** Runs a script, whose path is relative to this folder. */
export function startProgram(script: string, environment: Environment, ...args: string[]): Program {
  return startCommand([process.execPath, fileURLToPath(new URL(script, import.meta.url)), ...args], environment)
}

/** Runs a command with these variables and no others. It ends with the test, or the suite that shares it. */
export function startCommand(
  command: readonly string[],
  environment: Environment,
  options: ProgramOptions = {},
): Program {
  const program = runProgram(command, environment, options)
  whenDone(() => program.end('SIGKILL'))
  return program
}

/** What starts this release. */
export const serviceCommand: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL('../../src/main.ts', import.meta.url)),
]

/** Starts the service on a free port; resolves once it is ready. */
export async function startService(environment: Environment, command = serviceCommand): Promise<ServiceProcess> {
  const service = await startUnready(environment, command)
  await untilReady(service)
  return service
}

/** As `startService`, but resolves once it takes connections. */
export async function startUnready(environment: Environment, command = serviceCommand): Promise<ServiceProcess> {
  const service = startMain(environment, command)
  return { ...service, url: await listening(service) }
}

/** Starts a service that should refuse to run; what it printed has to match. */
export async function expectRefused(environment: Environment, ...printed: RegExp[]): Promise<void> {
  const { ended, output } = startMain(environment, serviceCommand)
  expect(await ended, output()).toBe(1)
  for (const each of printed) expect(output()).toMatch(each)
}

/** All that it prints is its output. */
function startMain(environment: Environment, command: readonly string[]): Program {
  const program = startCommand(command, { PORT: '0', API_KEYS: apiKey, ...environment })
  return { ...program, output: () => program.output() + program.errors() }
}

export async function stop(service: ServiceProcess): Promise<void> {
  expect(await service.end('SIGTERM'), service.output()).toBe(0)
}

export async function untilReady({ url, output }: ServiceProcess): Promise<void> {
  await vi.waitFor(
    async () => {
      const response = await fetch(`${url}/readyz`)
      expect(response.status, `${await response.text()}\n${output()}`).toBe(200)
    },
    { timeout: 60_000, interval: 100 },
  )
}

export interface Roles {
  readonly projector: ServiceProcess
  readonly apis: readonly [ServiceProcess, ServiceProcess]
  readonly clients: readonly [Client, Client]
}

/** Two instances that answer requests and one that projects, as a deployment may have them. */
export async function startRoles<E extends Environment>(environment: E): Promise<Roles & { readonly environment: E }> {
  const start = (ROLE: string) => startService({ ...environment, ROLE })
  const [projector, ...apis] = await Promise.all([start('projector'), start('api'), start('api')])
  return { environment, projector, apis, clients: [new Client(apis[0]), new Client(apis[1])] }
}

/** Kafka and Redis for one test: a topic and a prefix of its own, and a folder for keys. */
export function brokerEnvironment({ kafkaBrokers, redisUrl }: { kafkaBrokers: string; redisUrl: string }) {
  const name = `e2e-${randomUUID()}`
  return {
    KAFKA_BROKERS: kafkaBrokers,
    REDIS_URL: redisUrl,
    KAFKA_TOPIC: name,
    REDIS_PREFIX: name,
    DATA_DIR: temporaryFolder(),
  }
}

/** A Kafka and a Redis of the test's own, to be broken, and what the service needs to find them. */
export async function startOwnBrokers(redisArgs: readonly string[] = []) {
  const [kafka, redis] = await Promise.all([startKafka(), startRedis({ args: redisArgs })])
  whenDone(() => Promise.all([kafka.remove(), redis.remove()]))
  return { kafka, redis, environment: brokerEnvironment({ kafkaBrokers: kafka.brokers, redisUrl: redis.url }) }
}

/** Runs the command line as an operator does, with the variables of the service. */
export function petstore(environment: Environment, ...args: string[]) {
  return resultOf(startPetstore(environment, ...args))
}

/** As `petstore`, for a command that something is done to while it runs. */
export function startPetstore(environment: Environment, ...args: string[]): Program {
  return startProgram('../../src/cli.ts', environment, ...args)
}

/** Runs a command that has to succeed; resolves to what it prints. */
export async function petstoreOutput(environment: Environment, ...args: string[]): Promise<string> {
  const { code, output, errors } = await petstore(environment, ...args)
  expect(code, errors).toBe(0)
  return output
}

/** As `petstoreOutput`, with --json. */
// biome-ignore lint/suspicious/noExplicitAny: each test knows what its command prints
export async function petstoreJson(environment: Environment, ...args: string[]): Promise<any> {
  return JSON.parse(await petstoreOutput(environment, ...args, '--json'))
}

export interface ParkedEvent {
  readonly partition: number
  readonly offset: number
  readonly stream: string
  readonly reason: string
  readonly value: string
}

/** The parked events, once there are so many. */
export function untilParked(environment: Environment, count: number): Promise<ParkedEvent[]> {
  return vi.waitFor(
    async () => {
      const found: ParkedEvent[] = await petstoreJson(environment, 'parked', 'list')
      expect(found).toHaveLength(count)
      return found
    },
    { timeout: 60_000, interval: 100 },
  )
}

/** As the command line names an event. */
export function placeOf({ partition, offset }: ParkedEvent): string {
  return `${partition}/${offset}`
}

const healedWithinMs = 30_000

/** Within 30 s, by themselves, the read models are what the log says, in everything: comparing may take longer. */
export async function expectVerified(environment: Environment): Promise<Verification> {
  const deadline = performance.now() + healedWithinMs
  for (;;) {
    const isLast = performance.now() > deadline
    const { code, output, errors } = await petstore(environment, 'verify', '--json')
    if (code !== 0 && !isLast) continue
    const log = errors.split('\n').filter((line) => !line.startsWith('{"step":')) // which tell of progress
    expect(code, `${output}${log.join('\n')}`).toBe(0)
    const verification = JSON.parse(output)
    expect(verification.differences).toEqual([])
    return verification
  }
}
