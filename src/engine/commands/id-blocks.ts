import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '../lib/errors/errors.ts'
import { unlessAborted, withTimeout } from '../lib/with-timeout.ts'
import type { EventLog } from '../log/event-log.ts'
import type { ReadModel } from '../read-models/read-model.ts'

export const blockSize = 10_000
/** Ids that are looked at together: a millisecond of the store's time at most. */
const lookedAtOnce = 1000
/** How long a look waits for the read models to reach the end of the log. */
const reachMs = 5000
const defaultRetryMs = 250
/** How much longer a look may take once a request waits for its block: as long as the reservation itself. */
const neededLookMs = 2000
/** Each of them costs an append. */
const skippedMax = 100

export interface IdBlocksOptions {
  readonly log: Pick<EventLog, 'reserveIdBlock' | 'endOffsets'>
  readonly readModel: Pick<ReadModel, 'holdsAny'>
  /** All of the service. */
  readonly collections: readonly string[]
  readonly logger: Logger
  /** Between two looks for which the read models are away. */
  readonly retryMs?: number
}

/** A block that is being reserved. */
export interface ReservedBlock {
  /** Its number. Rejects with ServiceError event_log_unavailable. */
  readonly block: Promise<number>
  /** A request waits for it: from now on there are two seconds for the look. */
  need(): void
}

/**
 * Blocks of ids, each looked at before an id is drawn from it: the log never gives one twice unless it lost what it
 * knew of them, and another program may have written under any id. A block is skipped if anything is stored under its
 * ids, by the records that are in the log when it is reserved. If the read models cannot tell, the look is repeated, up
 * to the moment where a request needs the block: it is then used as it is.
 */
export class IdBlocks {
  readonly #options: IdBlocksOptions
  #isClosed = false

  constructor(options: IdBlocksOptions) {
    this.#options = options
  }

  reserve(): ReservedBlock {
    const needed = new AbortController()
    return { block: this.#reserve(needed.signal), need: () => needed.abort() }
  }

  /** What is being looked at is looked at no more. */
  close(): void {
    this.#isClosed = true
  }

  async #reserve(needed: AbortSignal): Promise<number> {
    for (let skipped = 0; skipped < skippedMax; skipped++) {
      const block = await this.#options.log.reserveIdBlock()
      if (!(await this.#isTaken(block, needed))) return block
      this.#options.logger.warn({ ...idsOf(block) }, 'some ids of a block are taken already: the block is skipped')
    }
    throw new ServiceError('event_log_unavailable', `Some ids of each of ${skippedMax} blocks are taken already.`)
  }

  async #isTaken(block: number, needed: AbortSignal): Promise<boolean> {
    const { logger, retryMs = defaultRetryMs } = this.#options
    for (;;) {
      const isLast = needed.aborted || this.#isClosed
      try {
        return await untilLate(this.#look(block), needed)
      } catch (error) {
        if (isLast || !(error instanceof ServiceError)) {
          const unseen = 'the ids of a block are used without a look at what is stored under them'
          logger.warn({ err: error, ...idsOf(block) }, unseen)
          return false
        }
      }
      await delay(retryMs, undefined, { signal: needed, ref: false }).catch(() => {})
    }
  }

  async #look(block: number): Promise<boolean> {
    const { log, readModel, collections } = this.#options
    const ends = await log.endOffsets()
    const positions = ends.flatMap((end, partition) => (end > 0 ? { partition, offset: end - 1 } : []))
    const { first, last } = idsOf(block)
    for (let from = first; from <= last; from += lookedAtOnce) {
      const range = { collections, first: from, last: from + lookedAtOnce - 1 }
      if (await readModel.holdsAny(range, { positions, wait: { timeoutMs: reachMs } })) return true
    }
    return false
  }
}

/** Block n holds the ids (n - 1) * 10,000 + 1 to n * 10,000. */
export function idsOf(block: number): { readonly first: number; readonly last: number } {
  return { first: (block - 1) * blockSize + 1, last: block * blockSize }
}

/** Rejects when a request has waited too long. */
async function untilLate<T>(look: Promise<T>, needed: AbortSignal): Promise<T> {
  const isLooked = await unlessAborted(
    needed,
    look.then(() => true),
  )
  return isLooked ? await look : await withTimeout(neededLookMs, look)
}
