import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { retry } from '../lib/retry.ts'
import type { Generations, Look } from './ports/generations.ts'

/** Marks a generation that replaced an incomplete one. */
const replacementMark = '.replacement'

/**
 * How long a replacement that lost data stays, and a generation that is active although it was replaced. Whatever keeps
 * removing data costs one rebuild in this time.
 */
const defaultPauseMs = 10_000

/**
 * Replaces a generation with a set that does not have its recorded size, or with something that is damaged, by an empty
 * one, which the projectors fill: at once, and after a pause if it was a replacement itself.
 */
export class IncompleteGenerations {
  readonly #generations: Pick<Generations, 'start'>
  readonly #logId: string
  readonly #logger: Logger
  readonly #pauseMs: number
  /** From when on a report of the generation has it replaced. */
  readonly #dueMs = new Map<string, number>()
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
  looked(generation: string, { isComplete, damage }: Pick<Look, 'isComplete' | 'damage'>): void {
    const now = performance.now()
    // Late reads may still report the others until then.
    for (const [name, dueMs] of this.#dueMs) if (name !== generation && dueMs <= now) this.#dueMs.delete(name)
    if (isComplete) this.#incomplete = undefined
    else this.report(generation, damage)
  }

  /** To be called whenever a set of the generation was found without its recorded size, or with what is damaged. */
  report(generation: string, damage?: string): void {
    this.#incomplete = generation
    const now = performance.now()
    const dueMs = this.#dueMs.get(generation) ?? this.#firstReport(generation, now, damage)
    if (now < dueMs) return
    this.#dueMs.set(generation, now + this.#pauseMs)
    void this.#replace(generation, damage)
  }

  #firstReport(generation: string, now: number, damage: string | undefined): number {
    this.#count++
    if (!generation.endsWith(replacementMark)) return now
    const again = 'the read models lost data again after they were replaced: look for what removes it'
    this.#logger.error({ generation, damage }, again)
    this.#dueMs.set(generation, now + this.#pauseMs)
    return now + this.#pauseMs
  }

  async #replace(generation: string, damage: string | undefined): Promise<void> {
    this.#logger.error({ generation, damage }, 'the read models lost data: an empty generation takes their place')
    try {
      const replacement = { name: `${randomUUID()}${replacementMark}`, logId: this.#logId }
      await retry(() => this.#generations.start(replacement, generation), { logger: this.#logger })
    } catch (error) {
      this.#logger.warn({ err: error, generation }, 'the incomplete read models could not be replaced')
    }
  }
}
