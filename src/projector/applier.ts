import type { Logger } from 'pino'
import type { LogRecord, RecordBatch } from '../event-log/event-log.ts'
import type { ParkedEvent, PartitionState, ReadModels } from '../read-models/read-models.ts'
import { counterPrefixes } from './counting.ts'
import { decide, type Known } from './decide.ts'
import type { ReadModelDefinition } from './definition.ts'
import type { ParkedContent } from './parking.ts'
import { type RecordContent, readRecord } from './read-record.ts'

const eventsPerApplyMax = 500

export interface ApplierOptions<Event> {
  readonly store: Pick<ReadModels, 'apply' | 'parkedUnder'>
  readonly definition: ReadModelDefinition<Event>
  readonly logger: Logger
}

/** Reads records, decides what becomes of them, and has the store apply that. */
export class Applier<Event> {
  readonly #options: ApplierOptions<Event>
  readonly #counters: readonly string[]

  constructor(options: ApplierOptions<Event>) {
    this.#options = options
    this.#counters = counterPrefixes(options.definition.countings)
  }

  /**
   * Applies what a batch holds behind the state of its partition. Resolves to the state it comes to, or to undefined where
   * the store refuses a part of it: the partition is not in this state. Throws ServiceError read_model_unavailable.
   */
  async apply(
    generation: string,
    state: PartitionState,
    { partition, records, next }: RecordBatch,
  ): Promise<PartitionState | undefined> {
    const position = state.checkpoint.next
    const fresh = records.findIndex(({ offset }) => offset >= position)
    let reached: PartitionState | undefined = state
    for (let at = fresh; at >= 0 && at < records.length && reached; at += eventsPerApplyMax) {
      const stretch = records.slice(at, at + eventsPerApplyMax)
      const end = records[at + eventsPerApplyMax]?.offset ?? next
      reached = await this.#applyStretch(generation, reached, { partition, records: stretch, next: end })
    }
    if (reached === undefined || reached.checkpoint.next >= next) return reached
    // Offsets without a record move the position too, or it would never reach the end of the log.
    return await this.#applyStretch(generation, reached, { partition, records: [], next })
  }

  async #applyStretch(
    generation: string,
    before: PartitionState,
    { partition, records, next }: Omit<RecordBatch, 'from'>,
  ): Promise<PartitionState | undefined> {
    const contents = records.map((record) => readRecord(this.#options.definition, record))
    const stretch = { partition, contents, lastRecord: records.at(-1), next }
    const parked = await this.#parkedUnder(generation, before, partition, contents)
    const known = { tags: new Map<number, string>(), decidedKeys: new Set<string>(), parked }
    for (;;) {
      const { batch, state } = decide(stretch, before, known, this.#counters)
      const result = await this.#options.store.apply(generation, batch)
      if (result.outcome === 'ids_taken') {
        for (const [id, tag] of result.tags) known.tags.set(id, tag)
        continue
      }
      if (result.outcome === 'keys_decided') {
        for (const key of result.keys) known.decidedKeys.add(key)
        continue
      }
      if (result.outcome !== 'applied') return undefined
      this.#report(before, state, partition)
      return state
    }
  }

  /** Of the subjects that something is discarded from. */
  async #parkedUnder(
    generation: string,
    { parkedSubjects }: PartitionState,
    partition: number,
    contents: readonly RecordContent[],
  ): Promise<Known['parked']> {
    const { store, definition } = this.#options
    const parked = new Map<string, ParkedContent[]>()
    for (const { subject } of contents.filter((content) => content.kind === 'discard')) {
      if (parked.has(subject) || !parkedSubjects.has(subject)) continue
      const events = await store.parkedUnder(generation, partition, subject)
      parked.set(
        subject,
        events.map((event) => ({ event, content: readRecord(definition, recordOf(event)) })),
      )
    }
    return parked
  }

  #report({ checkpoint: before }: PartitionState, { checkpoint: after }: PartitionState, partition: number): void {
    const skipped = after.skipped - before.skipped
    const parked = after.parked - before.parked
    const dropped = after.dropped - before.dropped
    if (skipped + parked + dropped === 0) return
    const range = { partition, from: before.next, to: after.next }
    this.#options.logger.warn({ ...range, skipped, parked, dropped }, 'records not applied')
  }
}

function recordOf({ offset, value }: ParkedEvent): LogRecord {
  return { offset, key: null, value: Buffer.from(value) }
}
