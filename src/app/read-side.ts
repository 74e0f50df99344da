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
  close(): Promise<void>
}

/** What requests read, however many shards there are. */
export function openReadSide(shards: readonly TrackedShard[], log: EventLog, logger: Logger): ReadSide {
  const models = shards.map(
    ({ store, log: ownLog, tracker }) =>
      new ProvenReadModel({
        reads: store.reads,
        tracker,
        log: ownLog,
        incomplete: (generation) => void replaceIncomplete(store.generations, { name: generation, log, logger }),
      }),
  )
  const [only] = models
  const readModel = models.length === 1 && only !== undefined ? only : new ShardedReadModel(models, log)
  return {
    readModel,
    get state() {
      return stateOf(models.map(({ state }) => state))
    },
    close: async () => void (await Promise.all(models.map((model) => model.close()))),
  }
}

function stateOf(states: readonly ProvenReadModel['state'][]): ReadSide['state'] {
  const statuses = new Set(states.map(({ status }) => status))
  const [first] = states
  if (states.length === 1 && first !== undefined) return first
  if (statuses.size === 1 && first !== undefined) return { status: first.status, shards: states }
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
  { name, log, logger }: { readonly name: string; readonly log: EventLog; readonly logger: Logger },
): Promise<void> {
  if (name.endsWith(replacementMark)) {
    logger.error(
      { generation: name },
      'the read models lost data again after they were replaced: look for what removes it',
    )
    return
  }
  logger.error({ generation: name }, 'the read models lost data: an empty generation takes their place')
  const replacement = { name: `${randomUUID()}${replacementMark}`, logId: log.logId }
  try {
    await retry(() => generations.start(replacement, name), { logger })
  } catch (error) {
    logger.warn({ err: error, generation: name }, 'the incomplete read models could not be replaced now')
  }
}
