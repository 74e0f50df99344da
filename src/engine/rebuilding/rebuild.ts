import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { retry } from '../lib/retry.ts'
import { DamagedError } from '../read-models/damaged.ts'
import type { ReadModelStore } from '../read-models/ports/store.ts'
import type { ShardLog } from '../read-models/shards.ts'
import { MismatchError, Replay, type ReplayOptions } from './replay.ts'

export interface RebuildOptions extends Omit<ReplayOptions, 'store' | 'incomplete'> {
  readonly log: Pick<ShardLog, 'logId' | 'partitionFor' | 'read' | 'endOffsets' | 'confirm'>
  readonly store: Pick<ReadModelStore, 'projection' | 'generations'>
  /** Called repeatedly with the number of records handled, and the number in the log. */
  readonly progress?: (done: number, total: number) => void
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
 * that the log held when the rebuild began and has not lost since, and is not behind the active one. An interrupted rebuild is continued, and
 * concurrent ones build the same generation. Throws RebuildError, having removed what it built, and ServiceError if log
 * or store stay unavailable.
 */
export async function rebuild(options: RebuildOptions): Promise<RebuildOutcome> {
  const { log, signal, progress } = options
  const { logId } = log
  const { generations } = options.store
  const { name } = await retry(() => generations.build({ name: randomUUID(), logId }), options)
  const goal = await retry(() => log.endOffsets(), options)
  const incomplete = {
    report: (_: string, damage = 'it is incomplete') => {
      throw cannotComplete(`${damage}.`)
    },
  }
  const replay = new Replay({ ...options, store: options.store.projection, incomplete }, name)
  let renewedMs = performance.now()

  /** Resolves to whether the new generation has taken over. */
  async function goOn(): Promise<boolean> {
    const stored = await generations.checkpoints(name).catch((error) => {
      throw error instanceof DamagedError ? cannotComplete(`${error.damage}.`) : error
    })
    if (stored === undefined) throw cannotComplete('its checkpoints are gone.')
    const endOffsets = await log.endOffsets()
    const [past] = [...stored].find(([partition, { next }]) => next > (endOffsets[partition] ?? 0)) ?? []
    if (past !== undefined) throw cannotComplete(`partition ${past} of the log ends before its position.`)
    const reached = await replay.advance(stored, new Map(endOffsets.entries()))
    progress?.(sum([...reached.values()].map(({ next }) => next)), sum(endOffsets))
    const hasReachedGoal = goal.every((offset, partition) => {
      const end = endOffsets[partition] ?? 0 // before the goal, if the log has lost its end since then
      return (reached.get(partition)?.next ?? 0) >= Math.min(offset, end)
    })
    const isOver = await tryActivate(hasReachedGoal)
    if (!isOver && reached === stored) await delay(lookMs, undefined, { signal }).catch(() => {})
    return isOver
  }

  async function tryActivate(hasReachedGoal: boolean): Promise<boolean> {
    const outcome = hasReachedGoal ? await generations.activate(name) : 'short'
    if (outcome === 'incomplete') throw new RebuildError('The new generation is incomplete.')
    if (outcome === 'activated') return true
    const isDue = performance.now() - renewedMs >= renewMs
    if (outcome === 'behind' && isDue) await replaceBeyondEnd()
    return outcome === 'not_building' || isDue ? await isActivatedElsewhere() : false
  }

  /** Nobody can catch up with a position that the log does not have. A projector begins anew there, and none may be running. */
  async function replaceBeyondEnd(): Promise<void> {
    const { active, checkpoints = [] } = await generations.look()
    const endOffsets = await log.endOffsets() // after the look: they only grow
    const isBeyond = [...checkpoints].some(([partition, { next }]) => next > (endOffsets[partition] ?? 0))
    if (active === undefined || !isBeyond) return
    await log.confirm()
    await generations.start({ name: randomUUID(), logId }, active.name)
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
    while (!signal?.aborted) if (await retry(goOn, options)) return 'activated'
    return 'interrupted'
  } catch (cause) {
    const error = cause instanceof MismatchError ? cannotComplete(cause.message) : cause
    if (error instanceof RebuildError) await generations.remove(name)
    throw error
  } finally {
    replay.close()
  }
}

function cannotComplete(why: string): RebuildError {
  return new RebuildError(`The new generation cannot be completed: ${why}`)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
