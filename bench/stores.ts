import { writeCursor } from '../src/http/tokens.ts'
import { fillLog } from './full-log.ts'
import type { LoadClient } from './load/load.ts'
import { say } from './progress.ts'
import { memoryTaken } from './redis-memory.ts'
import { type Cycle, measureInTurn, type System, type Systems, warmUp } from './rounds.ts'
import { get } from './scenarios.ts'
import { project } from './systems/replayers.ts'
import { type Environment, startProcess } from './systems/service.ts'

/** What is read of each store. */
export const readings = ['GET by id', 'first page', 'deep page'] as const
export type Reading = (typeof readings)[number]
export type StoreReading = `${Reading} of ${number}`

/** A store of pets 1 to `pets`, with an API process before it. */
export interface Store {
  readonly pets: number
  readonly url: string
  /** That Redis took for it. */
  readonly bytes: number
}

const idsRead = 1000
/** Where in the list the deep page begins. */
const deep = 0.9

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
  const bytes = await memoryTaken(own.REDIS_URL ?? '', () => project(stack, own, all))
  const { url } = await startProcess(stack, own)
  return { pets, url, bytes }
}

/** One request after the other, in rounds of every reading of every store in turn. */
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
  }
  return readings.map((reading) => ({ name: readingOf(reading, pets), url, load: get(paths[reading]) }))
}
