import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { retry } from '../lib/retry.ts'
import type { Generations } from './store.ts'

/** Marks a generation that replaced an incomplete one. */
const replacementMark = '.replacement'

/** How long a replacement that lost data stays: whatever keeps removing data costs one rebuild in this time. */
const defaultPauseMs = 10_000

/**
 * Replaces a generation with a set that does not have its recorded size by an empty one, which the projectors fill: at
 * once, and after a pause if it was a replacement itself.
 */
export class IncompleteGenerations {
  readonly #generations: Pick<Generations, 'start'>
  readonly #logId: string
  readonly #logger: Logger
  readonly #pauseMs: number
  readonly #reported = new Set<string>()
  #count = 0
  #incomplete: string | undefined

  constructor(generations: Pick<Generations, 'start'>, logId: string, logger: Logger, pauseMs = defaultPauseMs) {
    this.#generations = generations
    this.#logId = logId
    this.#logger = logger
    this.#pauseMs = pauseMs
  }

  /** How often this process has found one. */
  get count(): number {
    return this.#count
  }

  /** The active generation, if it was incomplete at the last look. */
  get current(): string | undefined {
    return this.#incomplete
  }

  /** What a look found about all sets of the active generation, also those that nobody reads or writes. */
  looked(generation: string, isComplete: boolean): void {
    if (isComplete) this.#incomplete = undefined
    else this.report(generation)
  }

  /** To be called whenever a set of the generation was found without its recorded size. */
  report(generation: string): void {
    this.#incomplete = generation
    if (this.#reported.has(generation)) return
    this.#reported.add(generation)
    this.#count++
    void (generation.endsWith(replacementMark) ? this.#replaceAgain(generation) : this.#replace(generation))
  }

  async #replaceAgain(generation: string): Promise<void> {
    const again = 'the read models lost data again after they were replaced: look for what removes it'
    this.#logger.error({ generation }, again)
    await delay(this.#pauseMs, undefined, { ref: false })
    if (this.#incomplete === generation) await this.#replace(generation)
    else this.#reported.delete(generation) // another process has replaced it
  }

  async #replace(generation: string): Promise<void> {
    this.#logger.error({ generation }, 'the read models lost data: an empty generation takes their place')
    try {
      const replacement = { name: `${randomUUID()}${replacementMark}`, logId: this.#logId }
      await retry(() => this.#generations.start(replacement, generation), { logger: this.#logger })
    } catch (error) {
      this.#reported.delete(generation) // the next look tries again
      this.#logger.warn({ err: error, generation }, 'the incomplete read models could not be replaced')
    }
  }
}
