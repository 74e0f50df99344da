import { kindOrFirst } from '../definition/kinds.ts'
import type { AnyEvent } from '../door/stream.ts'
import { IdTakenError, messageOf } from '../lib/errors/errors.ts'
import type { LogRecord, Offset, RecordBatch } from '../log/event-log.ts'
import { recordIdentity } from '../log/record-identity.ts'
import type { Batch } from '../read-models/ports/projection.ts'
import {
  type Checkpoint,
  type Counts,
  encodeEntry,
  encodeIdempotencyRecord,
  type IdempotencyRecord,
  keyId,
  type ParkedStream,
  type StreamId,
  type StreamRow,
} from '../read-models/stored-texts.ts'
import { applyEvent, documentName, type EventPlace } from './apply-event.ts'
import { ParkedQueue } from './parked-queue.ts'
import type { Rules } from './rules.ts'
import type { Discard, StreamEvent } from './stream-event.ts'
import { StreamState, type TextEdits } from './stream-state.ts'

/** Consecutive records of one partition, each with the event that it holds; undefined for records to skip. */
export interface ReadBatch extends Pick<RecordBatch, 'partition' | 'records' | 'next'> {
  readonly events: readonly (StreamEvent | Discard | undefined)[]
}

/** State of the partition before a batch that matters to its records. */
export abstract class PartitionBefore {
  /** The rows of the streams that were looked up; any other stream is assumed to be new, with nothing parked. */
  readonly rows = new Map<StreamId, StreamRow | undefined>()
  readonly parked = new Map<StreamId, ParkedStream>()
  /**
   * The offsets of the events that wait in each stream with parked ones: all where a record of the batch discards the first
   * one, else those of the last chunk if that is not full.
   */
  readonly waiting = new Map<StreamId, readonly Offset[]>()
  readonly decidedKeys = new Set<string>()
  /**
   * The documents that the store refused to add, by `documentName`. Any other document not shown by its stream is
   * assumed to be new.
   */
  readonly takenDocuments = new Set<string>()
  /** Reads parked events of a stream from the log, page by page, and learns which of their keys are decided. */
  abstract takeUp(stream: StreamId, offsets: readonly Offset[]): AsyncIterable<readonly StreamEvent[]>
}

/**
 * Determines the outcome of each record, in log order, by the rules of docs/journal.md. The outcome depends on the log
 * alone, not on how it is split into batches. Throws only what `takeUp` throws.
 */
export async function classify(
  rules: Rules,
  before: PartitionBefore,
  expected: Checkpoint,
  { partition, records, events, next }: ReadBatch,
): Promise<Batch> {
  const classifier = new Classifier(rules, before, expected, partition)
  for (const [i, event] of events.entries()) {
    if (event === undefined) classifier.skip(records[i])
    else if (event.discards === undefined) classifier.take(event)
    else await classifier.discard(event)
  }
  const record = records.at(-1)
  const last = record === undefined ? expected.last : { offset: record.offset, identity: recordIdentity(record) }
  return { partition, expected, checkpoint: { next, last, counts: classifier.counts }, ...classifier.changes }
}

type Judged =
  /** `created`: the id of the first document that this event showed anew. */
  | { readonly outcome: 'applied'; readonly created: number | undefined }
  | { readonly outcome: 'duplicate' | 'superseded' | 'discarded'; readonly created?: undefined }
  | { readonly outcome: 'parked'; readonly reason: string; readonly created?: undefined }

/** Why an event waits that may well be applied later. */
export const behindParked = 'an earlier event of this stream is parked'

class Classifier {
  readonly counts: { -readonly [Name in keyof Counts]: number }
  readonly #rules: Rules
  readonly #before: PartitionBefore
  readonly #partition: number
  readonly #place: EventPlace
  readonly #streams = new Map<StreamId, StreamState<unknown, AnyEvent>>()
  readonly #keys = new Map<string, IdempotencyRecord>()
  readonly #addedDocuments = new Set<string>()
  readonly #withoutEffect = new Set<Offset>()
  readonly #queues = new Map<StreamId, ParkedQueue>()

  constructor(rules: Rules, before: PartitionBefore, expected: Checkpoint, partition: number) {
    this.counts = { ...expected.counts }
    this.#rules = rules
    this.#before = before
    this.#partition = partition
    const isTaken = (name: string) => before.takenDocuments.has(name) || this.#addedDocuments.has(name)
    this.#place = { partition, isTaken }
    for (const [stream, parked] of before.parked) {
      this.#queues.set(stream, new ParkedQueue(stream, partition, parked, before.waiting.get(stream) ?? []))
    }
  }

  get changes(): Omit<Batch, 'partition' | 'expected' | 'checkpoint'> {
    const documents: Batch['documents'][number][] = []
    const [rows, history, parked, waiting] = [noEdits(), noEdits(), noEdits(), noEdits()]
    for (const stream of this.#streams.values()) stream.addChanges({ documents, rows, history })
    for (const queue of this.#queues.values()) queue.addChanges(parked, waiting)
    const keys = noEdits()
    for (const record of this.#keys.values()) keys.put.push([keyId(record), encodeIdempotencyRecord(record)])
    return {
      newStreams: [...this.#streams.keys()].filter((stream) => !this.#before.rows.has(stream)),
      documents,
      texts: { rows, keys, history, parked, waiting },
      withoutEffect: [...this.#withoutEffect],
    }
  }

  skip(record: LogRecord | undefined): void {
    this.counts.skipped++
    if (record !== undefined) this.#withoutEffect.add(record.offset)
  }

  take(event: StreamEvent): void {
    const { offset, stream } = event
    const queue = this.#queues.get(stream)
    const result: Judged =
      queue?.first === undefined ? this.#decide(event) : { outcome: 'parked', reason: behindParked }
    this.counts[result.outcome]++
    if (result.outcome !== 'applied') this.#withoutEffect.add(offset)
    if (result.outcome === 'parked') this.#queue(stream).park(offset, result.reason)
  }

  /** Without the first parked event, the events behind it are applied in turn, up to one that cannot be. */
  async discard({ offset, stream, discards }: Discard): Promise<void> {
    const queue = this.#queue(stream)
    if (queue.first !== discards) {
      this.counts.superseded++
      this.#withoutEffect.add(offset)
      return
    }
    this.counts.applied++
    let released = 0
    for await (const page of this.#before.takeUp(stream, queue.offsets)) {
      for (const event of page) {
        const result: Judged = released === 0 ? this.#passOver(event) : this.#decide(event)
        if (result.outcome === 'parked') {
          queue.release(released, result.reason)
          return
        }
        released++
        this.counts.parked--
        this.counts[result.outcome]++
        if (result.outcome === 'applied') this.#withoutEffect.delete(event.offset)
      }
    }
    queue.release(released, '')
  }

  #passOver({ stream, offset, id }: StreamEvent): Judged {
    this.#stream(stream).passOver(encodeEntry(offset, id, true))
    return { outcome: 'discarded' }
  }

  /** The outcome of an event with no parked event before it. */
  #decide(event: StreamEvent): Judged {
    const { version, key, offset, fingerprint, stream: name, time } = event
    const stream = this.#stream(name)
    if (version !== stream.version + 1) return { outcome: 'superseded' }
    if (key !== undefined && (this.#before.decidedKeys.has(key) || this.#keys.has(key))) return { outcome: 'duplicate' }
    const result = this.#apply(stream, event)
    if (key !== undefined && result.outcome !== 'duplicate') {
      const parked = result.outcome === 'parked'
      const id = parked ? 0 : (result.created ?? this.#rules.definition.names.documentOf(name)?.id ?? 0)
      const decision = { offset, fingerprint, stream: name, id, version, time, parked }
      this.#keys.set(key, { partition: this.#partition, key, ...decision })
    }
    return result
  }

  /** Applies the event, if that is possible. */
  #apply(stream: StreamState<unknown, AnyEvent>, event: StreamEvent): Judged {
    try {
      const { added, created } = applyEvent(this.#rules, this.#place, stream, event)
      for (const document of added) this.#addedDocuments.add(documentName(document))
      return { outcome: 'applied', created }
    } catch (error) {
      if (error instanceof IdTakenError) return { outcome: 'duplicate' } // its writer draws another id (decision 0005)
      return { outcome: 'parked', reason: messageOf(error) }
    }
  }

  #queue(stream: StreamId): ParkedQueue {
    const queue = this.#queues.get(stream) ?? new ParkedQueue(stream, this.#partition, undefined, [])
    this.#queues.set(stream, queue)
    return queue
  }

  #stream(name: StreamId): StreamState<unknown, AnyEvent> {
    const known = this.#streams.get(name)
    if (known !== undefined) return known
    const { definition } = this.#rules
    const own = definition.names.documentOf(name)
    const stream = new StreamState(kindOrFirst(definition, name), name, own, this.#before.rows.get(name))
    this.#streams.set(name, stream)
    return stream
  }
}

function noEdits(): TextEdits {
  return { put: [], removed: [] }
}
