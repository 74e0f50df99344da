import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { retry } from '../lib/retry.ts'
import { Tracker } from '../read-models/tracker.ts'
import { Projector, type ProjectorOptions } from './projector.ts'

/** `group` is the group of the projectors. The rebuild has a group of its own, shared by all processes that join it. */
export interface RebuildOptions extends Omit<ProjectorOptions, 'tracker' | 'lost' | 'incomplete'> {
  /** Called repeatedly with the number of records handled, and the number in the log. */
  readonly progress?: (done: number, total: number) => void
  readonly signal?: AbortSignal
}

export type RebuildOutcome = 'activated' | 'interrupted'

const lookMs = 50
/** The generation being built counts as abandoned this long after its last renewal, at least five seconds. */
const renewMs = 1000

/** A rebuild that cannot continue, with the reason. */
export class RebuildError extends Error {
  override readonly name = 'RebuildError'
}

/**
 * Builds the read models anew beside the active generation. The new generation becomes active once it has everything
 * that the log held when the rebuild began, and is not behind the active one. An interrupted rebuild is continued, and
 * concurrent ones build the same generation. Throws RebuildError, having removed what it built, and ServiceError if log
 * or store stay unavailable.
 */
export async function rebuild(options: RebuildOptions): Promise<RebuildOutcome> {
  const { log, signal, progress } = options
  const { logId } = log
  const { generations } = options.store
  const { name } = await retry(() => generations.build({ name: randomUUID(), logId }), options)
  const goal = await retry(() => log.endOffsets(), options)
  const tracker = new Tracker(generations, { follow: { name, logId, continues: undefined } })
  let renewedMs = performance.now()
  let whyLost: string | undefined
  const lost = (reason: string) => {
    whyLost = reason
  }
  const group = `${options.group}.rebuild.${name}`
  const incomplete = { report: () => lost('it is incomplete') }
  const projector = await Projector.start({ ...options, tracker, lost, incomplete, group })

  async function tryActivate(): Promise<boolean> {
    if (whyLost !== undefined) throw new RebuildError(`The new generation cannot be completed: ${whyLost}.`)
    const { checkpoints: reached } = await tracker.look()
    const endOffsets = await log.endOffsets()
    progress?.(sum([...(reached?.values() ?? [])].map(({ next }) => next)), sum(endOffsets))
    const hasReachedGoal = goal.every((offset, partition) => (reached?.get(partition)?.next ?? 0) >= offset)
    const outcome = hasReachedGoal ? await generations.activate(name) : 'short'
    if (outcome === 'incomplete') throw new RebuildError('The new generation is incomplete.')
    if (outcome === 'activated') return true
    const isDue = performance.now() - renewedMs >= renewMs
    return outcome === 'not_building' || isDue ? await isActivatedElsewhere() : false
  }

  /**
   * Another process that builds the same generation may have activated it. If not, it is renewed, so that it does not
   * count as abandoned.
   */
  async function isActivatedElsewhere(): Promise<boolean> {
    const stored = (await generations.all()).find((each) => each.name === name)
    if (stored === undefined) throw new RebuildError('The new generation is gone.')
    if (stored.state !== 'building') return true
    renewedMs = performance.now()
    const other = { name: randomUUID(), logId }
    const joined = await generations.build(other)
    if (joined.name === other.name) await generations.remove(other.name) // started by this call, although another one became active meanwhile
    return false
  }

  try {
    while (!signal?.aborted) {
      if (await retry(tryActivate, options)) return 'activated'
      await delay(lookMs, undefined, { signal }).catch(() => {})
    }
    return 'interrupted'
  } catch (error) {
    if (error instanceof RebuildError) await generations.remove(name)
    throw error
  } finally {
    await projector.close()
    await tracker.close()
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
