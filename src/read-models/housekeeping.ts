import type { Logger } from 'pino'
import { SingleFlight } from '../lib/single-flight.ts'
import type { Upkeep } from './upkeep.ts'

export interface HousekeepingOptions {
  /** How long a version that nobody renews, and a generation that is not active, are kept. */
  readonly graceMs: number
  /** Whether to remove what is kept no longer, too. */
  readonly prunes: boolean
  readonly logger: Logger
}

const intervalMaxMs = 60_000

/**
 * Keeps the stores from dropping the versions of this process, as long as it runs, and drops what no process uses any more.
 * Returns what ends that.
 */
export function keepHouse(
  stores: readonly Pick<Upkeep, 'renew' | 'prune'>[],
  { graceMs, prunes, logger }: HousekeepingOptions,
): () => Promise<void> {
  const keeping = new SingleFlight(async () => {
    try {
      // All before any prunes: after an outage each one's version may look unused to the others.
      await Promise.all(stores.map((store) => store.renew()))
      const removed = prunes ? (await Promise.all(stores.map((store) => store.prune(graceMs)))).flat() : []
      if (removed.length > 0) logger.info({ removed }, 'read models that nobody used were removed')
    } catch (error) {
      logger.debug({ err: error }, 'read models: not kept up now') // the store itself tells what is wrong with it
    }
  })
  void keeping.request()
  // Several times in the period of grace, so that one that fails does no harm.
  const timer = setInterval(() => void keeping.request(), Math.min(graceMs / 10, intervalMaxMs))
  return async () => {
    clearInterval(timer)
    await keeping.stop()
  }
}
