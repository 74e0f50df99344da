import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Definition } from '../definition/definition.ts'
import { auditTo } from '../lib/operating/audit.ts'
import type { ReadModelStore } from '../read-models/ports/store.ts'
import { type Shard, type ShardLog, type Stores, shardsOf } from '../read-models/shards.ts'
import { type RebuildOutcome, rebuild } from '../rebuilding/rebuild.ts'
import { type Verification, verify } from '../rebuilding/verify.ts'

export interface WorkOptions {
  readonly definition: Definition
  readonly log: ShardLog
  readonly stores: Stores
  readonly logger: Logger
  /** Told again and again how far a step of the work is. What it throws ends the work. */
  readonly update: (step: string, done: number, total: number) => void
  /** Once it aborts, a rebuild is left for the next one to go on with. */
  readonly signal?: AbortSignal
}

/** Builds the read models anew from the log, beside the live ones. `actor` is for the audit. Throws what `rebuild` throws. */
export async function rebuildAll(options: WorkOptions, actor: string): Promise<RebuildOutcome> {
  const { definition, logger, signal } = options
  const outcomes = await withEachShard(options, async (shard, update) => {
    const progress = (done: number, total: number) => update('rebuild', done, total)
    const outcome = await rebuild({ ...shard, definition, logger, progress, ...(signal && { signal }) })
    if (outcome === 'activated') auditTo(logger)('read models rebuilt', { actor })
    return outcome
  })
  return outcomes.length === options.stores.length && outcomes.every((outcome) => outcome === 'activated')
    ? 'activated'
    : 'interrupted'
}

/** Compares everything in the live read models with the log. `openScratch` opens empty read models in a file. Throws what `verify` throws. */
export async function verifyAll(
  options: WorkOptions,
  openScratch: (definition: Definition, file: string) => ReadModelStore,
): Promise<Verification> {
  const { definition, logger } = options
  const results = await withEachShard(options, async (shard, progress) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), `${definition.service.name}-verify-`))
    const scratch = openScratch(definition, join(folder.path, 'read-models.db'))
    return await verify({ ...shard, definition, logger, scratch, progress }).finally(() => scratch.close())
  })
  return {
    generation: results.map(({ generation }) => generation).join(' '),
    differences: results.flatMap(({ differences }) => differences),
    differenceCount: results.reduce((sum, { differenceCount }) => sum + differenceCount, 0),
    compared: results.reduce((sum, { compared }) => sum + compared, 0),
  }
}

/** One shard after the other: each takes its part of the log, so all of it is read once. */
async function withEachShard<T>(
  { log, stores, update, signal }: WorkOptions,
  work: (shard: Shard, update: WorkOptions['update']) => Promise<T>,
): Promise<T[]> {
  const results: T[] = []
  for (const [number, shard] of shardsOf(stores, log).entries()) {
    if (signal?.aborted) break
    const name = stores.length === 1 ? '' : ` shard ${number + 1} of ${stores.length}`
    results.push(await work(shard, (step, ...figures) => update(`${step}${name}`, ...figures)))
  }
  return results
}

/** What came of it, in words. */
export function verdictOf({ compared, differenceCount }: Pick<Verification, 'compared' | 'differenceCount'>): string {
  const outcome = differenceCount === 0 ? 'all as the log says' : `${differenceCount} not as the log says`
  return `${compared} compared, ${outcome}.`
}
