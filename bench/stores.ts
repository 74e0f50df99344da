import { Redis } from 'ioredis'
import { writeCursor } from '../src/engine/http/values/tokens.ts'
import { until } from '../test/brokers/ready.ts'
import { fillLog } from './full-log.ts'
import type { LoadClient } from './load/load.ts'
import { project } from './replay.ts'
import {
  type Cycle,
  figuresOf,
  measureInTurn,
  type Ratio,
  type System,
  type Systems,
  spreadOf,
  warmUp,
} from './rounds.ts'
import { say } from './run.ts'
import { get } from './scenarios.ts'
import { processState } from './soak/process-state.ts'
import { type Environment, startProcess } from './systems/service.ts'
import type { Replay } from './systems/stopwatch.ts'
import type { Verdict } from './table.ts'

/** The reads of each store. */
export const readings = [
  'GET by id',
  'first page',
  'deep page',
  'page by status',
  'page by category and status',
  'page by category',
  'counts',
  'counts of a category',
] as const
export type Reading = (typeof readings)[number]
export type StoreReading = `${Reading} of ${number}`

/** A store of pets 1 to `pets`, with its own API process. */
export interface Store {
  readonly pets: number
  readonly url: string
  /** Memory of Redis used by it. */
  readonly bytes: number
  /** The replay that built it. */
  readonly replay: Replay
  /** What its API process has in memory now. */
  readonly apiMiB: () => number
}

const settleMs = 60_000
const idsRead = 1000
/** Where the deep page begins in the list. */
const deep = 0.9

/**
 * Bytes of Redis for the reference pet. The smallest stores are left out, because Redis's fixed overhead dominates
 * there.
 */
export const bytesPerPetMax = 600
const petsWeighedMin = 10_000
/** What a page is compared with, of the same store, and how much longer it may take. */
const besides: Partial<Record<Reading, { readonly reading: Reading; readonly most: number }>> = {
  'deep page': { reading: 'first page', most: 1.3 },
  'page by category and status': { reading: 'page by status', most: 1.25 },
  'page by category': { reading: 'page by status', most: 2.5 },
}
/** For pages, over three orders of magnitude. */
const compared = { small: 1000, large: 1_000_000 }
const largeToSmallMax = 1.5

export function readingOf(reading: Reading, pets: number): StoreReading {
  return `${reading} of ${pets}`
}

/** Each with a topic and Redis keys of its own. */
export async function makeStore(stack: AsyncDisposableStack, environment: Environment, pets: number): Promise<Store> {
  const own: Environment = {
    ...environment,
    KAFKA_TOPIC: `${environment.KAFKA_TOPIC}.${pets}`,
    REDIS_PREFIX: `${environment.REDIS_PREFIX}:${pets}`,
    ROLE: 'api',
  }
  say(`a store of ${pets} pets: filling`)
  await fillLog('kafka', own, { pets })
  const all = { log: 'kafka', store: 'redis', events: pets } as const
  const { bytes, result: replay } = await memoryTaken(own.REDIS_URL ?? '', () => project(stack, own, all))
  const { url, pid } = await startProcess(stack, own)
  return { pets, url, bytes, replay, apiMiB: () => processState(pid).memoryMiB }
}

/** Sends one request after the other, in rounds of every read of every store in turn. */
export async function measureLatencies(
  stores: readonly Store[],
  options: { readonly client: LoadClient; readonly seconds: number; readonly rounds: number },
): Promise<Cycle<StoreReading>[]> {
  const measuring = { ...options, connections: 1 }
  const [first, ...others] = stores.flatMap(systemsOf)
  if (first === undefined) return []
  const systems: Systems<StoreReading> = [first, ...others]
  await warmUp('latency', systems, measuring)
  return await measureInTurn('latency', systems, measuring)
}

function systemsOf({ pets, url }: Store): System<StoreReading>[] {
  const step = Math.max(1, Math.floor(pets / idsRead))
  const ids = Array.from({ length: Math.min(pets, idsRead) }, (_, index) => 1 + index * step)
  const cursor = writeCursor(Math.floor(pets * deep), undefined)
  const paths: Readonly<Record<Reading, readonly string[]>> = {
    'GET by id': ids.map((id) => `/v1/pets/${id}`),
    'first page': ['/v1/pets?limit=20'],
    'deep page': [`/v1/pets?limit=20&cursor=${cursor}`],
    'page by status': ['/v1/pets?limit=20&status=sold'],
    'page by category and status': ofCategories((id) => `/v1/pets?limit=20&categoryId=${id}&status=sold`),
    'page by category': ofCategories((id) => `/v1/pets?limit=20&categoryId=${id}`),
    counts: ['/v1/store/inventory'],
    'counts of a category': ofCategories((id) => `/v1/store/inventory?categoryId=${id}`),
  }
  return readings.map((reading) => ({ name: readingOf(reading, pets), url, load: get(paths[reading]) }))
}

/** All ten. */
function ofCategories(pathOf: (id: number) => string): string[] {
  return Array.from({ length: 10 }, (_, id) => pathOf(id))
}

/**
 * How many more bytes Redis uses after `work` than before. `work` must close the connections that it opens, so that
 * they are in neither figure. Anything that other clients do with the server meanwhile is included.
 */
async function memoryTaken<Result>(url: string, work: () => Promise<Result>) {
  const redis = new Redis(url)
  try {
    const clients = await figure(redis, 'connected_clients')
    const before = await settledMemory(redis, clients)
    const result = await work()
    return { result, bytes: (await settledMemory(redis, clients)) - before }
  } finally {
    redis.disconnect()
  }
}

/** Resolves once Redis frees nothing any more, and no more clients are connected than these. */
async function settledMemory(redis: Redis, clients: number): Promise<number> {
  await until('Redis has freed the unused memory', settleMs, async () => {
    const pending = await figure(redis, 'lazyfree_pending_objects')
    const buffered = await figure(redis, 'aof_buffer_length')
    return pending + buffered === 0 && (await figure(redis, 'connected_clients')) <= clients
  })
  return await figure(redis, 'used_memory')
}

/** 0 if the server does not report it, for example without an append-only file. */
async function figure(redis: Redis, name: string): Promise<number> {
  const found = new RegExp(`^${name}:(\\d+)`, 'm').exec(await redis.info())?.[1]
  return Number(found ?? 0)
}

/** One kind of read of one store. */
export interface LatencySummary {
  readonly reading: Reading
  readonly pets: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Ratios of medians to what it is compared with of the same store. */
  readonly beside: { readonly reading: Reading; readonly ratio: Ratio } | undefined
  /** The ratio to the same kind of read of the smallest store. */
  readonly toSmallest: Ratio | undefined
}

/** `sizes` are those of the stores, ascending. */
export function summarizeLatencies(sizes: readonly number[], cycles: readonly Cycle<StoreReading>[]): LatencySummary[] {
  const [smallest = 0] = sizes
  const ratio = (reading: StoreReading, reference: StoreReading) =>
    spreadOf(cycles.map((cycle) => (cycle[reading]?.p50 ?? Number.NaN) / (cycle[reference]?.p50 ?? Number.NaN)))
  return readings.flatMap((reading) =>
    sizes.map((pets) => {
      const name = readingOf(reading, pets)
      const { p50, p99 } = figuresOf(cycles, name)
      const beside = besides[reading]?.reading
      return {
        reading,
        pets,
        p50,
        p99,
        beside: beside && { reading: beside, ratio: ratio(name, readingOf(beside, pets)) },
        toSmallest: pets === smallest ? undefined : ratio(name, readingOf(reading, smallest)),
      }
    }),
  )
}

export function memoryVerdicts({
  pets,
  bytesPerPet,
}: {
  readonly pets: number
  readonly bytesPerPet: number
}): Verdict[] {
  if (pets < petsWeighedMin) return []
  return [{ target: `<= ${bytesPerPetMax}`, met: bytesPerPet <= bytesPerPetMax }]
}

/** `smallest` is the size of the store that the others are compared with. */
export function latencyVerdicts({ reading, pets, beside, toSmallest }: LatencySummary, smallest: number): Verdict[] {
  const verdicts: Verdict[] = []
  const { most = 0 } = besides[reading] ?? {}
  if (beside !== undefined) {
    const target = `<= ${most.toFixed(2)} of ${beside.reading}`
    verdicts.push({ target, met: beside.ratio.median <= most })
  }
  if (toSmallest !== undefined && reading !== 'GET by id' && pets === compared.large && smallest === compared.small) {
    const target = `<= ${largeToSmallMax.toFixed(2)} of ${compared.small} pets`
    verdicts.push({ target, met: toSmallest.median <= largeToSmallMax })
  }
  return verdicts
}
