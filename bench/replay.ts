import { fillLog } from './full-log.ts'
import { say } from './progress.ts'
import { type Ratio, spreadOf } from './statistics.ts'
import { removeKeys } from './systems/brokers.ts'
import { consumeRaw, emptyReadModels, project } from './systems/replayers.ts'
import type { Environment } from './systems/service.ts'
import type { Replay } from './systems/stopwatch.ts'
import type { LogKind, StoreKind } from './systems/storage.ts'

/** In the order in which they replay the log; the others are compared with the first. */
export const replayers = ['raw consumer', 'Kafka → Redis', 'Kafka → SQLite', 'SQLite → SQLite'] as const
export type Replayer = (typeof replayers)[number]
export type ReplayCycle = Readonly<Record<Replayer, Replay>>

export interface ReplaySummary {
  readonly replayer: Replayer
  readonly eventsPerSecond: Ratio
  /** Microseconds of the process that replays, an event. Those of the brokers are not in it. */
  readonly cpuMicros: Ratio
  /** Undefined for the raw consumer itself. */
  readonly toRaw: Ratio | undefined
}

const projectors: Readonly<Record<Exclude<Replayer, 'raw consumer'>, readonly [LogKind, StoreKind]>> = {
  'Kafka → Redis': ['kafka', 'redis'],
  'Kafka → SQLite': ['kafka', 'sqlite'],
  'SQLite → SQLite': ['sqlite', 'sqlite'],
}

/** Fills the logs of `environment` with `events` events, and has them replayed by each in turn. */
export async function measureReplays(
  stack: AsyncDisposableStack,
  environment: Environment,
  { events, rounds, orders }: { readonly events: number; readonly rounds: number; readonly orders: boolean },
): Promise<ReplayCycle[]> {
  say(`filling two logs with ${events} events`)
  const filling = orders ? { pets: events / 2, ordered: true } : { pets: events }
  await fillLog('kafka', environment, filling)
  await fillLog('sqlite', environment, filling)
  say('replay: warming up') // the brokers, which compile what is hot too; each process that replays is new
  await replayInTurn(stack, environment, events)
  const cycles: ReplayCycle[] = []
  for (let round = 1; round <= rounds; round++) {
    const cycle = await replayInTurn(stack, environment, events)
    const rates = replayers.map((replayer) => `${replayer} ${rateOf(cycle[replayer]).toFixed(0)}/s`)
    say(`replay: round ${round} of ${rounds}: ${rates.join(', ')}`)
    cycles.push(cycle)
  }
  return cycles
}

async function replayInTurn(
  stack: AsyncDisposableStack,
  environment: Environment,
  events: number,
): Promise<ReplayCycle> {
  const replays: [Replayer, Replay][] = []
  for (const replayer of replayers) replays.push([replayer, await replay(stack, environment, replayer, events)])
  return Object.fromEntries(replays) as ReplayCycle
}

/** The rates of each, and their ratios to the raw consumer within a cycle. */
export function summarizeReplays(cycles: readonly ReplayCycle[]): ReplaySummary[] {
  return replayers.map((replayer) => ({
    replayer,
    eventsPerSecond: spreadOf(cycles.map((cycle) => rateOf(cycle[replayer]))),
    cpuMicros: spreadOf(cycles.map((cycle) => (cycle[replayer].cpuMs * 1000) / cycle[replayer].events)),
    toRaw:
      replayer === 'raw consumer'
        ? undefined
        : spreadOf(cycles.map((cycle) => rateOf(cycle[replayer]) / rateOf(cycle['raw consumer']))),
  }))
}

export function rateOf({ events, ms }: Replay): number {
  return (events / ms) * 1000
}

async function replay(
  stack: AsyncDisposableStack,
  environment: Environment,
  replayer: Replayer,
  events: number,
): Promise<Replay> {
  if (replayer === 'raw consumer') return await consumeRaw(stack, environment, events)
  const [log, store] = projectors[replayer]
  const own = emptyReadModels(environment)
  const replayed = await project(stack, own, { log, store, events })
  if (store === 'redis') await removeKeys(own.REDIS_URL ?? '', own.REDIS_PREFIX ?? '')
  return replayed
}
