import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Offset, type ReadRecords, readMax } from '../log/event-log.ts'
import { RecordGoneError } from '../log/read-at.ts'
import { isSameRecord } from '../log/record-identity.ts'
import { Applier, type ApplierOptions } from '../projector/applier.ts'
import type { Checkpoints } from '../read-models/ports/generations.ts'
import { type Checkpoint, startOfPartition } from '../read-models/stored-texts.ts'

/** Each is read and decoded into memory of its own. */
const partitionsAtOnce = 4
/** About how long one step takes, whatever there is to apply. */
const advanceMs = 500

export interface ReplayOptions extends Omit<ApplierOptions, 'tookUp'> {
  /** Once it aborts, what is not yet applied is left. */
  readonly signal?: AbortSignal
}

/** Log and read models do not belong together: the same again gives the same result. */
export class MismatchError extends Error {
  override readonly name = 'MismatchError'
}

/** The records of a partition to apply. */
interface Part {
  readonly partition: number
  readonly from: Checkpoint
  /** The offset in front of which it ends. */
  readonly end: Offset
}

/**
 * Applies the log to one generation, without a consumer group. Others may do the same at the same time: the store
 * refuses what does not begin at the stored checkpoint.
 */
export class Replay {
  readonly #options: ReplayOptions
  readonly #generation: string
  readonly #applier: Applier

  constructor(options: ReplayOptions, generation: string) {
    this.#options = options
    this.#generation = generation
    this.#applier = new Applier({ ...options, tookUp: () => !options.signal?.aborted })
  }

  /**
   * Applies a page of each partition that is not at its end, as far as time allows, and nothing from that end on. `from`
   * is what is stored. Resolves to what is reached: to `from` itself if the log has no more, or somebody else moved it.
   * Throws MismatchError, and ServiceError if log or store do not answer.
   */
  async advance(from: Checkpoints, ends: ReadonlyMap<number, Offset>): Promise<Checkpoints> {
    const until = performance.now() + advanceMs
    // All workers take from this one iterator, which ends for each of them where one throws.
    const parts = partsOf(from, ends)
      .values()
      .filter(() => performance.now() < until && !this.#options.signal?.aborted)
    const moved: [number, Checkpoint][] = []
    const work = async () => {
      for (const part of parts) {
        const reached = await this.#apply(part)
        if (reached !== undefined) moved.push([part.partition, reached])
      }
    }
    const worked = await Promise.allSettled(Array.from({ length: partitionsAtOnce }, work))
    const failed = worked.find((each) => each.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return moved.length === 0 ? from : new Map([...from, ...moved])
  }

  close(): void {
    this.#applier.close()
  }

  async #apply(part: Part): Promise<Checkpoint | undefined> {
    const { partition, from, end } = part
    const page = await this.#read(part)
    const next = Math.min(page.next, end)
    if (next <= from.next) return undefined
    const records = page.records.filter(({ offset }) => offset < next)
    const batch = { partition, from: from.next, records, next }
    const applying = this.#applier.apply(this.#generation, from, batch)
    const reached = await applying.catch((error) => {
      throw error instanceof RecordGoneError ? new MismatchError(`A parked event is lost: ${error.message}.`) : error
    })
    await nextTurn() // embedded, all of this is one piece of work
    return reached
  }

  /**
   * Each page begins with the last record applied: a log that lost its end since then may hold another one there
   * (decision 0001).
   */
  async #read({ partition, from: { next, last }, end }: Part): Promise<ReadRecords> {
    const { log } = this.#options
    const read = (from: Offset) => log.read(partition, from, Math.min(end - from, readMax))
    if (last === null) return await read(next)
    const page = await read(last.offset)
    if (page.next === last.offset) return page
    if (!isSameRecord(page.records[0], last)) {
      throw new MismatchError(`Offset ${last.offset} of partition ${partition} holds another record.`)
    }
    return page.next > next ? page : await read(next) // more offsets without a record than a page has
  }
}

/** The furthest behind first: there may be no time for all. */
function partsOf(from: Checkpoints, ends: ReadonlyMap<number, Offset>): readonly Part[] {
  const parts = [...ends].map(([partition, end]) => ({ partition, from: from.get(partition) ?? startOfPartition, end }))
  const lag = ({ from: { next }, end }: Part) => end - next
  return parts.filter((part) => lag(part) > 0).sort((one, other) => lag(other) - lag(one))
}
