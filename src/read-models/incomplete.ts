import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { retry } from '../lib/retry.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import type { Generations } from './generations.ts'

/** Marks a generation that took the place of an incomplete one. */
const replacementMark = '.replacement'

/**
 * Has a generation in which a set does not have its recorded size replaced by an empty one, which the projectors fill. Once:
 * where the replacement is incomplete as well, something takes data out again and again, and only a person can tell.
 */
export class IncompleteGenerations {
  readonly #generations: Pick<Generations, 'start' | 'isComplete'>
  readonly #logId: string
  readonly #logger: Logger
  readonly #reported = new Set<string>()
  readonly #looking = new SingleFlight(() => this.#look())
  #count = 0
  #toLookAt = ''
  #incomplete: string | undefined

  constructor(generations: Pick<Generations, 'start' | 'isComplete'>, logId: string, logger: Logger) {
    this.#generations = generations
    this.#logId = logId
    this.#logger = logger
  }

  /** How often this process has found one. */
  get count(): number {
    return this.#count
  }

  /** The active one, if it was incomplete when it was last looked at. */
  get present(): string | undefined {
    return this.#incomplete
  }

  /** Looks at all sets of the generation: nobody may read or write those that lost something. */
  lookSoon(generation: string): void {
    this.#toLookAt = generation
    void this.#looking.request()
  }

  /** A set of the generation was found without its recorded size. */
  found(generation: string): void {
    this.#incomplete = generation
    if (this.#reported.has(generation)) return
    this.#reported.add(generation)
    this.#count++
    if (generation.endsWith(replacementMark)) {
      this.#logger.error(
        { generation },
        'the read models lost data again after they were replaced: look for what removes it',
      )
    } else void this.#replace(generation)
  }

  async #look(): Promise<void> {
    const generation = this.#toLookAt
    try {
      if (!(await this.#generations.isComplete(generation))) this.found(generation)
      else this.#incomplete = undefined
    } catch {
      // the store itself tells what is wrong with it, and there is another look in a second
    }
  }

  async #replace(generation: string): Promise<void> {
    this.#logger.error({ generation }, 'the read models lost data: an empty generation takes their place')
    try {
      const replacement = { name: `${randomUUID()}${replacementMark}`, logId: this.#logId }
      await retry(() => this.#generations.start(replacement, generation), { logger: this.#logger })
    } catch (error) {
      this.#reported.delete(generation) // whoever finds it next tries again
      this.#logger.warn({ err: error, generation }, 'the incomplete read models could not be replaced now')
    }
  }
}
