import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { timeOfDay } from '../lib/clock.ts'
import type { Tracing } from '../lib/operating/tracing.ts'
import type { Offset, RecordBatch } from '../log/event-log.ts'
import { DamagedError } from '../read-models/damaged.ts'
import type { IncompleteGenerations } from '../read-models/incomplete.ts'
import type { ProjectionStore } from '../read-models/ports/projection.ts'
import { type Checkpoint, encodeCheckpoint, type StreamId } from '../read-models/stored-texts.ts'
import { classify, type ReadBatch } from '../rule/classify.ts'
import { readEvent } from '../rule/stream-event.ts'
import { traceApplied } from './apply-spans.ts'
import { Lookup, type LookupOptions, NotAsExpected } from './lookup.ts'
import { NotApplied } from './not-applied.ts'

const eventsPerApplyMax = 500
/** Between two attempts while another generation is about to become active. */
const laterMs = 5

export interface ApplierOptions extends LookupOptions {
  readonly store: ProjectionStore
  readonly logger: Logger
  /** Told of the generation whenever a batch cannot be applied because a set is incomplete or something is damaged. */
  readonly incomplete?: Pick<IncompleteGenerations, 'report'>
  /**
   * Told of each discard that took effect, again whenever read models are built anew; not if the store's reply is lost.
   */
  readonly discarded?: ((discarded: Discarded) => void) | undefined
  /** Undefined: nothing is traced. */
  readonly tracing?: Tracing | undefined
}

/** What an operator left out, and the record that says so. Both places are `partition/offset`. */
export interface Discarded {
  readonly event: string
  readonly stream: StreamId
  readonly decision: string
}

/** Reads records, determines their outcomes, and has the store apply them. */
export class Applier {
  readonly #options: ApplierOptions
  readonly #notApplied: NotApplied

  constructor(options: ApplierOptions) {
    this.#options = options
    this.#notApplied = new NotApplied(options.logger)
  }

  /**
   * Applies the part of a batch after the checkpoint of its partition. Resolves to the new checkpoint, or to undefined
   * if the partition is not at that checkpoint. Throws ServiceError read_model_unavailable and, where an event is
   * discarded, event_log_unavailable; DamagedError if the generation is incomplete or damaged; RecordGoneError if the log has no longer what is parked.
   */
  async apply(
    generation: string,
    checkpoint: Checkpoint,
    { partition, records, next }: RecordBatch,
  ): Promise<Checkpoint | undefined> {
    const fresh = records.filter(({ offset }) => offset >= checkpoint.next)
    let reached: Checkpoint | undefined = checkpoint
    // Offsets without a record move the position too; otherwise it would never reach the end of the log.
    for (let at = 0; reached !== undefined && reached.next < next; at += eventsPerApplyMax) {
      const slice = fresh.slice(at, at + eventsPerApplyMax)
      const events = slice.map((record) => readEvent(this.#options, partition, record))
      const end = fresh[at + eventsPerApplyMax]?.offset ?? next
      reached = await this.#applySlice(generation, reached, { partition, records: slice, events, next: end })
      if (end < next) await nextTurn() // embedded, an apply is one piece of work
    }
    return reached
  }

  /** Logs what is left to be logged. */
  close(): void {
    this.#notApplied.close()
  }

  async #applySlice(generation: string, expected: Checkpoint, batch: ReadBatch): Promise<Checkpoint | undefined> {
    const lookup = new Lookup(this.#options, batch.partition, async (request) => {
      const state = await this.#options.store.load(generation, { partition: batch.partition, ...request })
      const isExpected = state !== undefined && encodeCheckpoint(state.checkpoint) === encodeCheckpoint(expected)
      if (!isExpected) throw new NotAsExpected()
      return state
    })
    try {
      await lookup.lookUp(batch.events)
      return await this.#applyKnowing(lookup, generation, expected, batch)
    } catch (error) {
      if (error instanceof NotAsExpected && !error.isIncomplete) return undefined
      const damage = error instanceof DamagedError ? error.damage : undefined
      if (damage === undefined && !(error instanceof NotAsExpected)) throw error
      this.#options.incomplete?.report(generation, damage)
      throw damage === undefined ? new DamagedError('a set has lost entries') : error
    }
  }

  async #applyKnowing(lookup: Lookup, generation: string, expected: Checkpoint, batch: ReadBatch): Promise<Checkpoint> {
    const { store, tracing } = this.#options
    const since = tracing && timeOfDay()
    for (;;) {
      const changes = await classify(this.#options, lookup, expected, batch)
      const result = await store.apply(generation, changes)
      if (result.outcome === 'exist') await lookup.learn(result)
      else if (result.outcome === 'later') await delay(laterMs)
      else if (result.outcome !== 'applied') throw new NotAsExpected(result.outcome === 'incomplete')
      else {
        this.#tellDiscarded(batch, changes.withoutEffect)
        if (tracing && since) traceApplied(tracing, batch, changes.withoutEffect, since)
        this.#notApplied.note(batch.partition, expected, changes.checkpoint)
        return changes.checkpoint
      }
    }
  }

  #tellDiscarded({ partition, events }: ReadBatch, withoutEffect: readonly Offset[]): void {
    for (const event of events) {
      if (event?.discards === undefined || withoutEffect.includes(event.offset)) continue
      const { stream, offset, discards } = event
      this.#options.discarded?.({ event: `${partition}/${discards}`, stream, decision: `${partition}/${offset}` })
    }
  }
}
