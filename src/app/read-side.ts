import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { EventLog } from '../event-log/event-log.ts'
import type { Check } from '../http/health.ts'
import { retry } from '../lib/retry.ts'
import type { Generations } from '../read-models/generations.ts'
import { ProvenReadModel } from '../read-models/proven-read-model.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import { ShardedReadModel } from '../read-models/shards.ts'
import type { TrackedShard } from './shards.ts'

/** 'degraded': some shards can be read, and some cannot. */
export type ReadStatus = ProvenReadModel['state']['status'] | 'degraded'

export interface ReadSide {
  readonly readModel: ReadModel
  readonly state: Check & { readonly status: ReadStatus }
  close(): void
}

/** What requests read, however many shards there are. */
export function openReadSide(shards: readonly TrackedShard[], log: EventLog, logger: Logger): ReadSide {
  const models = shards.map(({ store: { reads, generations }, log: ownLog, tracker }) => {
    const incomplete = (generation: string) => void replaceIncomplete(generations, generation, log.logId, logger)
    return new ProvenReadModel({ reads, tracker, log: ownLog, incomplete })
  })
  const [only] = models
  const readModel = only !== undefined && models.length === 1 ? only : new ShardedReadModel(models, log)
  return {
    readModel,
    get state() {
      return stateOf(models.map(({ state }) => state))
    },
    close() {
      for (const model of models) model.close()
    },
  }
}

function stateOf(states: readonly ProvenReadModel['state'][]): ReadSide['state'] {
  const [first, ...others] = states
  if (first !== undefined && others.length === 0) return first
  const statuses = new Set(states.map(({ status }) => status))
  if (first !== undefined && statuses.size === 1) return { status: first.status, shards: states }
  return { status: statuses.has('up') ? 'degraded' : 'rebuilding', shards: states }
}

/** Marks a generation that took the place of an incomplete one. */
const replacementMark = '.replacement'

/**
 * A set of the generation is not of its recorded size: an empty generation takes its place, and the projectors fill it.
 * Once: where the replacement is incomplete as well, something takes data out again and again, and only a person can tell.
 */
async function replaceIncomplete(
  generations: Generations,
  generation: string,
  logId: string,
  logger: Logger,
): Promise<void> {
  if (generation.endsWith(replacementMark)) {
    logger.error({ generation }, 'the read models lost data again after they were replaced: look for what removes it')
    return
  }
  logger.error({ generation }, 'the read models lost data: an empty generation takes their place')
  try {
    const replacement = { name: `${randomUUID()}${replacementMark}`, logId }
    await retry(() => generations.start(replacement, generation), { logger })
  } catch (error) {
    logger.warn({ err: error, generation }, 'the incomplete read models could not be replaced now')
  }
}
