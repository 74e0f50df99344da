import { setTimeout as delay } from 'node:timers/promises'
import { readConfig } from '../src/app/config.ts'
import { petStatuses } from '../src/domain/pet.ts'
import { until } from '../test/brokers/ready.ts'
import { requestHeaders } from './load/load.ts'
import type { Environment } from './systems/service.ts'

const atOnce = 64
const pageSize = 20
const caughtUpMs = 60_000

/** A store that was filled: where its pets and its pages of 20 are. */
export interface FilledStore {
  readonly petPaths: readonly string[]
  /** The first page and, by their cursors, all that follow. Each is full. */
  readonly pagePaths: readonly string[]
}

/** Adds pets through the interface, and resolves once the list holds them all. */
export async function fill(url: string, count: number): Promise<FilledStore> {
  const petPaths: string[] = []
  let next = 0
  async function worker(): Promise<void> {
    while (next < count) petPaths.push(await create(url, next++))
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return { petPaths, pagePaths: await pagesOf(url, count) }
}

/**
 * Resolves once the service has applied what was posted before. Batches take the partitions in turn, so that one pet
 * after another, as many as there are partitions, comes to stand at the end of each.
 */
export async function caughtUp(url: string, environment: Environment): Promise<void> {
  const partitions = readConfig(environment).brokers?.kafka.partitions ?? 1
  for (let partition = 0; partition < partitions; partition++) {
    const path = await create(url, partition)
    await until(`${path} is applied`, caughtUpMs, () => isFound(`${url}${path}`))
  }
}

async function isFound(url: string): Promise<boolean> {
  const response = await fetch(url, { headers: requestHeaders })
  await response.text() // frees the connection
  return response.ok
}

async function create(url: string, index: number): Promise<string> {
  const status = petStatuses[index % petStatuses.length]
  const body = JSON.stringify({ name: `Rex the ${index}th`, categoryId: index % 100, status })
  const response = await fetch(`${url}/v1/pets`, { method: 'POST', headers: requestHeaders, body })
  const answer = await response.text()
  const path = response.headers.get('location')
  if (response.status !== 201 || path === null) throw new Error(`POST /v1/pets: ${response.status} ${answer}`)
  return path
}

async function pagesOf(url: string, count: number): Promise<string[]> {
  const deadline = performance.now() + caughtUpMs
  for (;;) {
    const { pets, paths } = await walk(url)
    if (pets === count) return paths.slice(0, Math.floor(count / pageSize))
    if (performance.now() > deadline) throw new Error(`the list holds ${pets} pets of ${count}`)
    await delay(100)
  }
}

async function walk(url: string): Promise<{ pets: number; paths: string[] }> {
  const paths: string[] = []
  let pets = 0
  let path: string | undefined = `/v1/pets?limit=${pageSize}`
  while (path !== undefined) {
    const response: Response = await fetch(`${url}${path}`, { headers: requestHeaders })
    if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`)
    pets += ((await response.json()) as unknown[]).length
    paths.push(path)
    path = /^<(.+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1]
  }
  return { pets, paths }
}
