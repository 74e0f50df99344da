import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fillLog } from './full-log.ts'
import { type Ratio, spreadOf } from './rounds.ts'
import { say } from './run.ts'
import { removeKeys } from './systems/brokers.ts'
import { runScript } from './systems/child.ts'
import type { Environment } from './systems/service.ts'
import type { Replay } from './systems/stopwatch.ts'
import type { LogKind, StoreKind } from './systems/storage.ts'
import type { Verdict } from './table.ts'

/** In the order in which they replay the log; the others are compared with the first. */
const replayers = ['raw consumer', 'Kafka → Redis', 'Kafka → SQLite', 'SQLite → SQLite'] as const
type Replayer = (typeof replayers)[number]
export type ReplayCycle = Readonly<Record<Replayer, Replay>>

export interface ReplaySummary {
  readonly replayer: Replayer
  readonly eventsPerSecond: Ratio
  /** CPU time of the replaying process per event, in microseconds, without that of the brokers. */
  readonly cpuMicros: Ratio
  /** Undefined for the raw consumer itself. */
  readonly toRaw: Ratio | undefined
}

const projectors: Readonly<Record<Exclude<Replayer, 'raw consumer'>, readonly [LogKind, StoreKind]>> = {
  'Kafka → Redis': ['kafka', 'redis'],
  'Kafka → SQLite': ['kafka', 'sqlite'],
  'SQLite → SQLite': ['sqlite', 'sqlite'],
}

/** The targets of a replay into Redis, as a ratio to the raw consumer and in absolute numbers. */
const replayTarget = { toRaw: 0.3, eventsPerSecond: 100_000 }

/** Fills the logs of `environment` with `events` events, and lets each system replay them in turn. */
export async function measureReplays(
  stack: AsyncDisposableStack,
  environment: Environment,
  { events, rounds, orders }: { readonly events: number; readonly rounds: number; readonly orders: boolean },
): Promise<ReplayCycle[]> {
  say(`filling two logs with ${events} events`)
  const filling = orders ? { pets: events / 2, ordered: true } : { pets: events }
  await fillLog('kafka', environment, filling)
  await fillLog('sqlite', environment, filling)
  say('replay: warming up') // for the brokers, which compile hot code too; each replaying process is new
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

async function replayInTurn(stack: AsyncDisposableStack, environment: Environment, events: number) {
  const replays: [Replayer, Replay][] = []
  for (const replayer of replayers) replays.push([replayer, await replay(stack, environment, replayer, events)])
  return Object.fromEntries(replays) as ReplayCycle
}

/** The rates of each, and their ratios to the raw consumer within a cycle. */
export function summarizeReplays(cycles: readonly ReplayCycle[]): ReplaySummary[] {
  return replayers.map((replayer) => {
    const toRaw = cycles.map((cycle) => rateOf(cycle[replayer]) / rateOf(cycle['raw consumer']))
    return {
      replayer,
      eventsPerSecond: spreadOf(cycles.map((cycle) => rateOf(cycle[replayer]))),
      cpuMicros: spreadOf(cycles.map((cycle) => (cycle[replayer].cpuMs * 1000) / cycle[replayer].events)),
      toRaw: replayer === 'raw consumer' ? undefined : spreadOf(toRaw),
    }
  })
}

export function replayVerdicts({ replayer, eventsPerSecond, toRaw }: ReplaySummary): Verdict[] {
  if (replayer !== 'Kafka → Redis' || toRaw === undefined) return []
  return [
    { target: `${replayTarget.toRaw.toFixed(2)} of raw`, met: toRaw.median >= replayTarget.toRaw },
    { target: `${replayTarget.eventsPerSecond}/s`, met: eventsPerSecond.median >= replayTarget.eventsPerSecond },
  ]
}

function rateOf({ events, ms }: Replay): number {
  return (events / ms) * 1000
}

async function replay(
  stack: AsyncDisposableStack,
  environment: Environment,
  replayer: Replayer,
  events: number,
): Promise<Replay> {
  if (replayer === 'raw consumer') {
    const args = [newGroup(environment), String(events)]
    return replayOf(await runScript(stack, 'bench/systems/raw-consumer.ts', { environment, arguments: args }))
  }
  const [log, store] = projectors[replayer]
  const own = emptyReadModels(environment)
  const replayed = await project(stack, own, { log, store, events })
  if (store === 'redis') await removeKeys(own.REDIS_URL ?? '', own.REDIS_PREFIX ?? '')
  return replayed
}

interface Projection {
  readonly log: LogKind
  readonly store: StoreKind
  /** All that the log holds. */
  readonly events: number
}

/** Projects all of a log in a process of its own, with Node's own options where wanted. */
export async function project(
  stack: AsyncDisposableStack,
  environment: Environment,
  { log, store, events }: Projection,
  node: readonly string[] = [],
): Promise<Replay> {
  const args = [log, store, newGroup(environment), String(events)]
  return replayOf(await runScript(stack, 'bench/systems/projector.ts', { environment, arguments: args, node }))
}

/** The environment with empty read models: nothing under its Redis prefix, and no file of SQLite. */
function emptyReadModels(environment: Environment): Environment {
  const { DATA_DIR = '', REDIS_PREFIX = '' } = environment
  for (const file of readdirSync(DATA_DIR)) {
    if (file.startsWith('read-models.db')) rmSync(join(DATA_DIR, file))
  }
  return { ...environment, REDIS_PREFIX: `${REDIS_PREFIX}:${randomUUID()}` }
}

/** A new one each time, so that no member that has just left delays it. */
function newGroup({ KAFKA_TOPIC = '' }: Environment): string {
  return `${KAFKA_TOPIC}.${randomUUID()}`
}

/** The last line that a script printed. */
function replayOf(output: string): Replay {
  return JSON.parse(output.trimEnd().split('\n').at(-1) ?? '')
}
