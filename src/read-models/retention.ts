import type { Logger } from 'pino'
import { SingleFlight } from '../lib/single-flight.ts'
import type { Generations } from './generations.ts'

export interface RetentionOptions {
  /** How long a version that nobody renews, and a generation that is not active, are kept. */
  readonly graceMs: number
  /** Whether to remove what is kept no longer, too. */
  readonly prunes: boolean
  readonly logger: Logger
}

const intervalMaxMs = 60_000

/**
 * Renews the versions of this process for as long as it runs, and removes what no process uses any more.
 * Returns what ends that.
 */
export function startRetention(
  stores: readonly Pick<Generations, 'renew' | 'prune'>[],
  { graceMs, prunes, logger }: RetentionOptions,
): () => Promise<void> {
  const retention = new SingleFlight(async () => {
    try {
      // All before any prunes: after an outage each one's version may look unused to the others.
      await Promise.all(stores.map((store) => store.renew()))
      const removed = prunes ? (await Promise.all(stores.map((store) => store.prune(graceMs)))).flat() : []
      if (removed.length > 0) logger.info({ removed }, 'read models that nobody used were removed')
    } catch (error) {
      logger.debug({ err: error }, 'read models could not be renewed') // the store itself tells what is wrong with it
    }
  })
  void retention.request()
  // Several times in the period of grace, so that one that fails does no harm.
  const timer = setInterval(() => void retention.request(), Math.min(graceMs / 10, intervalMaxMs))
  return async () => {
    clearInterval(timer)
    await retention.stop()
  }
}
