import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Offset } from '../event-log/event-log.ts'
import { retry } from '../lib/retry.ts'
import type { ReadModelStore } from '../read-models/store.ts'
import { Tracker } from '../read-models/tracker.ts'
import type { StreamDefinition } from './definition.ts'
import { type ProjectedLog, Projector } from './projector.ts'
import type { Target } from './target.ts'

export interface RebuildOptions<State, Event> {
  readonly log: ProjectedLog
  readonly store: Pick<ReadModelStore, 'projection' | 'generations'>
  readonly definition: StreamDefinition<State, Event>
  /** The group of the projectors; the rebuild has one of its own, which all that join it share. */
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
export async function rebuild<State, Event>(options: RebuildOptions<State, Event>): Promise<RebuildOutcome> {
  const { log, store, signal } = options
  const { logId } = log
  const { name } = await retry(() => store.generations.build({ name: randomUUID(), logId }), options)
  const goal = await retry(() => log.endOffsets(), options)
  const tracker = new Tracker(store.generations, { follow: async () => ({ name, logId, continues: undefined }) })
  const building = new Building(options, tracker, name, goal)
  const group = `${options.group}.rebuild.${name}`
  const projector = await Projector.start({ ...options, tracker, target: building, group })
  try {
    while (!signal?.aborted) {
      if (await retry(() => building.takesOver(), options)) return 'activated'
      await delay(lookMs, undefined, { signal }).catch(() => {})
    }
    return 'interrupted'
  } catch (error) {
    if (error instanceof RebuildError) await store.generations.remove(name)
    throw error
  } finally {
    await projector.close()
    await tracker.close()
  }
}

/** The generation being built: takes over once it has what the log held when the rebuild began, and is not behind. */
class Building<State, Event> implements Target {
  readonly #options: RebuildOptions<State, Event>
  readonly #tracker: Tracker
  readonly #name: string
  readonly #goal: readonly Offset[]
  #renewed = performance.now()
  /** Why it can be filled no longer. */
  #lost: string | undefined

  constructor(options: RebuildOptions<State, Event>, tracker: Tracker, name: string, goal: readonly Offset[]) {
    this.#options = options
    this.#tracker = tracker
    this.#name = name
    this.#goal = goal
  }

  async accepts(): Promise<boolean> {
    return true
  }

  async replace(_generation: string, reason: string): Promise<boolean> {
    this.#lost = reason
    return false
  }

  async takesOver(): Promise<boolean> {
    if (this.#lost !== undefined) throw new RebuildError(`The generation being built was given up: ${this.#lost}.`)
    const { store, progress, log } = this.#options
    const { checkpoints: reached } = await this.#tracker.look()
    const ends = await log.endOffsets()
    progress?.(sum([...(reached?.values() ?? [])].map(({ next }) => next)), sum(ends))
    const isThere = this.#goal.every((offset, partition) => (reached?.get(partition)?.next ?? 0) >= offset)
    const outcome = isThere ? await store.generations.activate(this.#name) : 'short'
    if (outcome === 'incomplete') throw new RebuildError('What was built does not hold what was added to it.')
    if (outcome === 'activated') return true
    const isDue = performance.now() - this.#renewed >= renewMs
    return outcome === 'not_building' || isDue ? await this.#hasTakenOver() : false
  }

  /** Another process that builds it as well may have activated it. If not, it is kept from being removed as abandoned. */
  async #hasTakenOver(): Promise<boolean> {
    const { store, log } = this.#options
    const stored = (await store.generations.all()).find(({ name }) => name === this.#name)
    if (stored === undefined) throw new RebuildError('The generation being built is gone.')
    if (stored.state !== 'building') return true
    this.#renewed = performance.now()
    const own = randomUUID()
    const { name } = await store.generations.build({ name: own, logId: log.logId })
    if (name === own) await store.generations.remove(name) // begun by this call, as this one took over meanwhile
    return false
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
