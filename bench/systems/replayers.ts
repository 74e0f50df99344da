import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { runScript } from './child.ts'
import type { Environment } from './service.ts'
import type { Replay } from './stopwatch.ts'
import type { LogKind, StoreKind } from './storage.ts'

export interface Projection {
  readonly log: LogKind
  readonly store: StoreKind
  /** All that the log holds. */
  readonly events: number
}

export async function consumeRaw(
  stack: AsyncDisposableStack,
  environment: Environment,
  events: number,
): Promise<Replay> {
  return await replay(stack, 'bench/systems/raw-consumer.ts', environment, [newGroup(environment), String(events)])
}

/** Projects all of a log in a process of its own, with Node's own options where wanted. */
export async function project(
  stack: AsyncDisposableStack,
  environment: Environment,
  { log, store, events }: Projection,
  node: readonly string[] = [],
): Promise<Replay> {
  const args = [log, store, newGroup(environment), String(events)]
  return await replay(stack, 'bench/systems/projector.ts', environment, args, node)
}

/** The environment with empty read models: nothing under its Redis prefix, and no file of SQLite. */
export function emptyReadModels(environment: Environment): Environment {
  const { DATA_DIR = '', REDIS_PREFIX = '' } = environment
  for (const file of readdirSync(DATA_DIR)) {
    if (file.startsWith('read-models.db')) rmSync(join(DATA_DIR, file))
  }
  return { ...environment, REDIS_PREFIX: `${REDIS_PREFIX}:${randomUUID()}` }
}

/** Another one each time: no member that has just left delays it. */
function newGroup({ KAFKA_TOPIC = '' }: Environment): string {
  return `${KAFKA_TOPIC}.${randomUUID()}`
}

async function replay(
  stack: AsyncDisposableStack,
  script: string,
  environment: Environment,
  args: readonly string[],
  node: readonly string[] = [],
): Promise<Replay> {
  const output = await runScript(stack, script, { environment, arguments: args, node })
  return JSON.parse(output.trimEnd().split('\n').at(-1) ?? '')
}
