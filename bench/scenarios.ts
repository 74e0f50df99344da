import { readConfig } from '../src/engine/app/config.ts'
import { petStatuses } from '../src/store/pet.ts'
import { until } from '../test/brokers/ready.ts'
import { HttpClient } from '../test/lib/http-client.ts'
import { Random } from '../test/lib/random.ts'
import { petstore } from '../test/store/petstore.ts'
import { apiKey, type Load } from './load/load.ts'
import type { Environment } from './systems/service.ts'

const atOnce = 64
const pageSize = 20
const caughtUpMs = 60_000
const pathsMax = 1000

export interface Scenario {
  readonly name: string
  readonly load: Load
}

export interface Read extends Scenario {
  /** The minimum ratio that the service should reach. */
  readonly target: number
}

export function reads({ petPaths, pagePaths }: FilledStore): Read[] {
  return [
    { name: 'GET by id', load: get(inAnyOrder(petPaths)), target: 0.75 },
    { name: 'page of 20', load: get(['/v1/pets?limit=20']), target: 0.5 },
    { name: 'page of 20, by cursor', load: get(spread(pagePaths.slice(1))), target: 0.5 },
    { name: 'page of 20, by status', load: get(['/v1/pets?limit=20&status=sold']), target: 0.5 },
  ]
}

export const post: Load = {
  method: 'POST',
  paths: ['/v1/pets'],
  body: JSON.stringify({ name: 'Rex', categoryId: 7, status: 'available' }),
}

export const postWithoutWait: Load = { ...post, headers: { prefer: 'wait=0' } }

/** The last one leaves the projector behind, which would slow down another. */
export const writes: readonly Scenario[] = [
  { name: 'POST', load: post },
  { name: 'POST, wait=0', load: postWithoutWait },
]

export function get(paths: readonly string[]): Load {
  return { method: 'GET', paths }
}

/** All paths, in an order that is the same for each system. */
function inAnyOrder(paths: readonly string[]): string[] {
  return new Random(paths.length).shuffle(paths)
}

/** Paths from all over the store. */
function spread(paths: readonly string[]): string[] {
  const step = Math.ceil(paths.length / pathsMax)
  return paths.filter((_, index) => index % step === 0)
}

/** A filled store: the paths of its pets and of its pages of 20. */
export interface FilledStore {
  readonly petPaths: readonly string[]
  /** The first page and, by their cursors, all later ones. Each is full. */
  readonly pagePaths: readonly string[]
}

/** Adds pets through the API, and resolves once the list contains them all. */
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
 * Resolves once the service has applied everything posted so far. Batches use the partitions in turn, so that as many
 * further pets as there are partitions put one at the end of each.
 */
export async function caughtUp(url: string, environment: Environment): Promise<void> {
  const partitions = readConfig(petstore, environment).brokers?.kafka.partitions ?? 1
  for (let partition = 0; partition < partitions; partition++) {
    const path = await create(url, partition)
    await untilApplied(`${url}${path}`)
  }
}

/** Resolves once a GET of a pet finds it. */
export async function untilApplied(url: string): Promise<void> {
  const client = new HttpClient({ url }, apiKey)
  await until(`${url} is applied`, caughtUpMs, async () => (await client.request('')).status === 200)
}

/** Resolves to its path. */
export async function addPet(url: string, pet: object): Promise<string> {
  const { status, headers, text } = await new HttpClient({ url }, apiKey).send('POST', '/v1/pets', pet)
  const path = headers.get('location')
  if (status !== 201 || path === null) throw new Error(`POST /v1/pets: ${status} ${text}`)
  return path
}

async function create(url: string, index: number): Promise<string> {
  const status = petStatuses[index % petStatuses.length]
  const pet = { name: `Rex the ${index}th`, categoryId: index % 100, status }
  return await addPet(url, pet)
}

async function pagesOf(url: string, count: number): Promise<string[]> {
  let walked = await walk(url)
  await until(`the list holds ${count} pets`, caughtUpMs, async () => {
    if (walked.pets !== count) walked = await walk(url)
    return walked.pets === count
  })
  return walked.paths.slice(0, Math.floor(count / pageSize))
}

async function walk(url: string): Promise<{ pets: number; paths: string[] }> {
  const paths: string[] = []
  let pets = 0
  for await (const { path, documents } of new HttpClient({ url }, apiKey).pages(`/v1/pets?limit=${pageSize}`)) {
    pets += documents.length
    paths.push(path)
  }
  return { pets, paths }
}
