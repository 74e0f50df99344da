import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Offset, RecordBatch } from '../event-log/event-log.ts'
import { timeOfDay } from '../lib/clock.ts'
import type { Tracing } from '../lib/tracing.ts'
import { type Checkpoint, encodeCheckpoint } from '../read-models/checkpoint.ts'
import type { IncompleteGenerations } from '../read-models/incomplete.ts'
import type { ApplyResult, LoadRequest, PartitionState, ProjectionStore } from '../read-models/projection-store.ts'
import type { StreamId } from '../read-models/stream-row.ts'
import { traceApplied } from './apply-spans.ts'
import { classify, documentName, Known, type ReadBatch } from './classify.ts'
import type { Rules } from './definition.ts'
import { readEvent, readParked } from './stream-event.ts'

const eventsPerApplyMax = 500
/** Between two attempts while another generation is about to become active. */
const laterMs = 5

export interface ApplierOptions extends Rules {
  readonly store: ProjectionStore
  readonly logger: Logger
  /** Told of the generation whenever the store refuses a batch because a set is incomplete. */
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

  constructor(options: ApplierOptions) {
    this.#options = options
  }

  /**
   * Applies the part of a batch after the checkpoint of its partition. Resolves to the new checkpoint, or to undefined
   * if the partition is not at that checkpoint. Throws ServiceError read_model_unavailable.
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
    }
    return reached
  }

  async #applySlice(generation: string, expected: Checkpoint, batch: ReadBatch): Promise<Checkpoint | undefined> {
    const { store, tracing } = this.#options
    const { partition, events } = batch
    const since = tracing && timeOfDay()
    const lookup = new Lookup(this.#options, async (request) => {
      const state = await store.load(generation, { partition, ...request })
      const isExpected = state !== undefined && encodeCheckpoint(state.checkpoint) === encodeCheckpoint(expected)
      return isExpected ? state : undefined
    })
    let isAsExpected = await lookup.lookUp(events)
    while (isAsExpected) {
      const changes = classify(this.#options, lookup, expected, batch)
      const result = await store.apply(generation, changes)
      if (result.outcome === 'applied') {
        this.#tellDiscarded(batch, changes.withoutEffect)
        if (tracing && since) traceApplied(tracing, batch, changes.withoutEffect, since)
        return this.#report(expected, changes.checkpoint, partition)
      }
      if (result.outcome === 'exist') isAsExpected = await lookup.learn(result)
      else if (result.outcome === 'later') await delay(laterMs)
      else {
        if (result.outcome === 'incomplete') this.#options.incomplete?.report(generation)
        isAsExpected = false
      }
    }
    return undefined
  }

  #tellDiscarded({ partition, events }: ReadBatch, withoutEffect: readonly Offset[]): void {
    for (const event of events) {
      if (event?.discards === undefined || withoutEffect.includes(event.offset)) continue
      const { stream, offset, discards } = event
      this.#options.discarded?.({ event: `${partition}/${discards}`, stream, decision: `${partition}/${offset}` })
    }
  }

  #report(before: Checkpoint, after: Checkpoint, partition: number): Checkpoint {
    const difference = (name: keyof Checkpoint['counts']) => Math.max(0, after.counts[name] - before.counts[name])
    const [superseded, duplicate] = [difference('superseded'), difference('duplicate')]
    const [parked, skipped] = [difference('parked'), difference('skipped')]
    if (superseded + duplicate + parked + skipped > 0) {
      const level = parked + skipped > 0 ? 'warn' : 'info' // competing events are normal
      const figures = { partition, from: before.next, to: after.next, superseded, duplicate, parked, skipped }
      this.#options.logger[level](figures, 'records not applied')
    }
    return after
  }
}

type Load = (request: Omit<LoadRequest, 'partition'>) => Promise<PartitionState | undefined>

/**
 * Loads what a batch needs to know of its partition. `load` gives nothing if the partition is not at the expected
 * checkpoint.
 */
class Lookup extends Known {
  readonly #rules: Rules
  readonly #ask: Load

  constructor(rules: Rules, load: Load) {
    super()
    this.#rules = rules
    this.#ask = load
  }

  /**
   * A stream whose first event comes first in the batch is assumed to be new, which the store checks: a replay of
   * creations loads nothing. Resolves to false if the partition is not as expected.
   */
  async lookUp(events: ReadBatch['events']): Promise<boolean> {
    const [streams, begun] = [new Set<StreamId>(), new Set<StreamId>()]
    const [keys, queues] = [new Set<string>(), new Set<StreamId>()]
    for (const event of events) {
      if (event === undefined) continue
      const { stream } = event
      if (event.discards !== undefined) queues.add(stream)
      else if (event.key !== undefined) keys.add(event.key)
      if (event.discards === undefined && event.version === 1) begun.add(stream)
      else if (!begun.has(stream)) streams.add(stream)
    }
    return await this.#load({ streams: [...streams], keys: [...keys], queues: [...queues] })
  }

  /** Something assumed to be new exists. Resolves as `lookUp` does. */
  async learn({ streams, documents }: Extract<ApplyResult, { outcome: 'exist' }>): Promise<boolean> {
    const isHome = ({ collection }: { collection: string }) => collection === this.#rules.definition.home
    const shown = documents.filter(isHome).map(({ id }) => String(id))
    const unknown = [...new Set([...streams, ...shown])].filter((stream) => !this.rows.has(stream))
    const taken = documents.filter((document) => !isHome(document)).map(documentName)
    if (unknown.length === 0 && taken.every((name) => this.takenDocuments.has(name))) {
      throw new Error(
        `the store refuses documents or streams that it does not contain: ${JSON.stringify({ streams, documents })}`,
      )
    }
    for (const name of taken) this.takenDocuments.add(name)
    return await this.#load({ streams: unknown, keys: [], queues: [] })
  }

  async #load(request: Parameters<Load>[0]): Promise<boolean> {
    const { streams, keys, queues } = request
    if (streams.length + keys.length + queues.length === 0) return true
    const state = await this.#ask(request)
    if (state === undefined) return false
    for (const stream of streams) this.rows.set(stream, state.rows.get(stream))
    for (const stream of state.parkedStreams) this.parkedStreams.add(stream)
    for (const key of state.decidedKeys) this.decidedKeys.add(key)
    for (const [stream, queue] of state.queues) this.queues.set(stream, queue)
    const keysBehind = [...state.queues.values()].flat().flatMap((event) => readParked(this.#rules, event)?.key ?? [])
    return await this.#load({ streams: [], keys: [...new Set(keysBehind)], queues: [] })
  }
}
