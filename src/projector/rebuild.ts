import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Offset } from '../event-log/event-log.ts'
import type { ReadModels } from '../read-models/read-models.ts'
import type { ShardLog } from '../read-models/shards.ts'
import type { ReadModelDefinition } from './definition.ts'
import { patiently } from './patience.ts'
import { Projector } from './projector.ts'
import type { Target } from './target.ts'

export interface RebuildOptions<Event> {
  readonly log: ShardLog
  readonly store: ReadModels
  readonly definition: ReadModelDefinition<Event>
  /** Of the projectors; the rebuild has a group of its own, which all that join it share. */
  readonly group: string
  readonly logger: Logger
  /** Called again and again with how many records of the log are handled, and how many there are. */
  readonly progress?: (done: number, total: number) => void
  readonly signal?: AbortSignal
}

export type RebuildOutcome = 'activated' | 'interrupted'

const lookMs = 50
/** The generation being built counts as abandoned some time after the last renewal: five seconds at the least. */
const renewMs = 1000

/** A rebuild that cannot go on, and why. */
export class RebuildError extends Error {
  override readonly name = 'RebuildError'
}

/**
 * Builds the read models anew, beside the active generation, and has the new one take its place once it is nowhere
 * behind. One that was interrupted is gone on with; of several at once, all build the same generation.
 * Throws RebuildError, having removed what it built, and ServiceError when log or store stay away.
 */
export async function rebuild<Event>(options: RebuildOptions<Event>): Promise<RebuildOutcome> {
  const { log, store, group, signal } = options
  const { name } = await patiently(() => store.build({ name: randomUUID(), epoch: log.epoch }), options)
  const attempt = new TakeOver(options, name, await patiently(() => log.ends(), options))
  const target = new BuildingTarget(name)
  const projector = await Projector.start({ ...options, target, group: `${group}.rebuild.${name}` })
  const activates = async () => {
    if (target.lost !== undefined) throw new RebuildError(`The generation being built was given up: ${target.lost}.`)
    return await attempt.succeeds()
  }
  try {
    while (!signal?.aborted) {
      if (await patiently(activates, options)) return 'activated'
      await delay(lookMs, undefined, { signal }).catch(() => {})
    }
    return 'interrupted'
  } catch (error) {
    if (error instanceof RebuildError) await store.remove(name)
    throw error
  } finally {
    await projector.close()
  }
}

/** Fills one generation, come what may. */
class BuildingTarget implements Target {
  readonly #generation: string
  /** Why it can be filled no longer. */
  lost: string | undefined

  constructor(generation: string) {
    this.#generation = generation
  }

  async current(): Promise<string> {
    return this.#generation
  }

  async replace(_generation: string, reason: string): Promise<boolean> {
    this.lost = reason
    return false
  }
}

/** Lets the generation take over once it has what the log held when the rebuild began, and is not behind. */
class TakeOver<Event> {
  readonly #options: RebuildOptions<Event>
  readonly #name: string
  readonly #goal: readonly Offset[]
  #renewed = performance.now()

  constructor(options: RebuildOptions<Event>, name: string, goal: readonly Offset[]) {
    this.#options = options
    this.#name = name
    this.#goal = goal
  }

  async succeeds(): Promise<boolean> {
    const { store, progress, log } = this.#options
    const reached = await store.checkpoints(this.#name)
    const ends = await log.ends()
    progress?.(sum([...(reached?.values() ?? [])].map(({ next }) => next)), sum(ends))
    const isThere = this.#goal.every((offset, partition) => (reached?.get(partition)?.next ?? 0) >= offset)
    const outcome = isThere ? await store.activate(this.#name) : 'short'
    if (outcome === 'incomplete') throw new RebuildError('What was built does not hold what was added to it.')
    if (outcome === 'activated') return true
    const isDue = performance.now() - this.#renewed >= renewMs
    return outcome === 'not_building' || isDue ? await this.#hasTakenOver() : false
  }

  /** By the hand of another process that builds it as well. If not, it is kept from being removed as abandoned. */
  async #hasTakenOver(): Promise<boolean> {
    const { store, log } = this.#options
    const stored = (await store.generations()).find(({ name }) => name === this.#name)
    if (stored === undefined) throw new RebuildError('The generation being built is gone.')
    if (stored.state !== 'building') return true
    this.#renewed = performance.now()
    const own = randomUUID()
    const { name } = await store.build({ name: own, epoch: log.epoch })
    if (name === own) await store.remove(name) // begun by this call, as this one took over meanwhile
    return false
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
