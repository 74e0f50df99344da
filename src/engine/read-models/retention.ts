import type { Logger } from 'pino'
import { SingleFlight } from '../lib/single-flight.ts'
import type { Generations, StoredVersion } from './ports/generations.ts'

export interface RetentionOptions {
  /** The log of this process: read models of other logs are not removed. */
  readonly logId: string
  /** Those of this process, which are in use whatever the list says. */
  readonly versions: readonly string[]
  /** How long a version that nobody renews, and a generation that is not active, are kept. */
  readonly graceMs: number
  /** Whether to remove expired read models too. */
  readonly prunes: boolean
  readonly logger: Logger
}

const intervalMaxMs = 60_000
/** An outage of this many intervals is well within the grace period, for all processes that renew. */
const gapIntervals = 3

/**
 * Renews the versions of this process while it runs, and removes those that no process uses. Returns a function that
 * ends that.
 */
export function startRetention(
  stores: readonly Pick<Generations, 'renew' | 'versions' | 'removeVersion' | 'prune'>[],
  { logId, versions, graceMs, prunes, logger }: RetentionOptions,
): () => Promise<void> {
  // Several times per grace period, so that one failure does no harm.
  const intervalMs = Math.min(graceMs / 10, intervalMaxMs)
  const unusedOf = watchUnused(graceMs, gapIntervals * intervalMs)
  const retention = new SingleFlight(async () => {
    try {
      await Promise.all(stores.map((store) => store.renew()))
      const removed = prunes ? await prune() : []
      if (removed.length > 0) logger.info({ removed }, 'removed unused read models')
    } catch (error) {
      logger.debug({ err: error }, 'read models could not be renewed') // the store reports its own problems
    }
  })

  async function prune(): Promise<string[]> {
    const removed: string[] = []
    const [first] = stores // all shards share the list of versions
    for (const listed of first === undefined ? [] : unusedOf(await first.versions())) {
      if (!versions.includes(listed.version) && (await first?.removeVersion(listed, logId)))
        removed.push(listed.version)
    }
    return [...removed, ...(await Promise.all(stores.map((store) => store.prune(graceMs)))).flat()]
  }

  void retention.request()
  const timer = setInterval(() => void retention.request(), intervalMs)
  return async () => {
    clearInterval(timer)
    await retention.stop()
  }
}

/**
 * Tells the versions that this process has watched for the whole grace period, without a gap, and that nobody renewed.
 * A process that is disconnected from the store cannot renew either: by the store's clock, the first process to
 * reconnect would remove the read models of all others.
 */
function watchUnused(graceMs: number, gapMs: number): (versions: readonly StoredVersion[]) => readonly StoredVersion[] {
  let watched = new Map<string, { readonly renewed: number; readonly sinceMs: number }>()
  let lookedMs = Number.NEGATIVE_INFINITY
  return (versions) => {
    const now = performance.now()
    if (now - lookedMs > gapMs) watched.clear()
    lookedMs = now
    watched = new Map(
      versions.map(({ version, renewed }) => {
        const before = watched.get(version)
        return [version, before?.renewed === renewed ? before : { renewed, sinceMs: now }]
      }),
    )
    return versions.filter(({ version }) => now - (watched.get(version)?.sinceMs ?? now) >= graceMs)
  }
}
