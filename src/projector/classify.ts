import type { Offset, RecordBatch } from '../event-log/event-log.ts'
import type { Checkpoint, Counts } from '../read-models/checkpoint.ts'
import type { DocumentId } from '../read-models/document.ts'
import type { IdempotencyRecord } from '../read-models/idempotency-record.ts'
import type { ParkedEvent } from '../read-models/parked-event.ts'
import type { Batch } from '../read-models/projection-store.ts'
import type { StreamId, StreamRow } from '../read-models/stream-row.ts'
import type { Document, Rules } from './definition.ts'
import { type Discard, readParked, recordIdentity, type StreamEvent } from './stream-event.ts'
import { type StreamChanges, StreamState } from './stream-state.ts'

/** Consecutive records of one partition, each with the event that it holds; undefined for records to skip. */
export interface ReadBatch<Event = unknown> extends Pick<RecordBatch, 'partition' | 'records' | 'next'> {
  readonly events: readonly (StreamEvent<Event> | Discard | undefined)[]
}

/** State of the partition before a batch that matters to its records. */
export class Known {
  /** The rows of the streams that were looked up; any other stream is assumed to be new, with nothing parked. */
  readonly rows = new Map<StreamId, StreamRow | undefined>()
  readonly parkedStreams = new Set<StreamId>()
  /** All parked events of each stream in which a record of the batch discards an event, in order of offset. */
  readonly queues = new Map<StreamId, readonly ParkedEvent[]>()
  readonly decidedKeys = new Set<string>()
  /**
   * The documents that the store refused to add, by `documentName`. Any other document not shown by its stream is
   * assumed to be new.
   */
  readonly takenDocuments = new Set<string>()
}

export function documentName({ collection, id }: DocumentId): string {
  return `${collection} ${id}`
}

/**
 * Determines the outcome of each record, in log order, by the rules of docs/events.md. Pure. The outcome depends on the
 * log alone, not on how it is split into batches.
 */
export function classify<State, Event>(
  rules: Rules<State, Event>,
  known: Known,
  expected: Checkpoint,
  { partition, records, events, next }: ReadBatch<Event>,
): Batch {
  const classifier = new Classifier(rules, known, expected, partition)
  for (const event of events) classifier.take(event)
  const record = records.at(-1)
  const last = record === undefined ? expected.last : { offset: record.offset, identity: recordIdentity(record) }
  return { partition, expected, checkpoint: { next, last, counts: classifier.counts }, ...classifier.changes }
}

type Outcome =
  | { readonly outcome: 'applied' | 'duplicate' | 'superseded' }
  | { readonly outcome: 'parked'; readonly reason: string }

const applied: Outcome = { outcome: 'applied' }
const behindParked: Outcome = { outcome: 'parked', reason: 'an earlier event of this stream is parked' }

class Classifier<State, Event> {
  readonly counts: { -readonly [Name in keyof Counts]: number }
  readonly #rules: Rules<State, Event>
  readonly #known: Known
  readonly #from: Offset
  readonly #partition: number
  readonly #streams = new Map<StreamId, StreamState<State, Event>>()
  readonly #keys = new Map<string, IdempotencyRecord>()
  readonly #addedDocuments = new Set<string>()
  readonly #withoutEffect = new Set<Offset>()
  readonly #parkedStreams: Set<StreamId>
  readonly #queues = new Map<StreamId, ParkedEvent[]>()
  /** Events parked now, by offset. */
  readonly #parked = new Map<Offset, ParkedEvent>()
  readonly #unparked: ParkedEvent[] = []

  constructor(rules: Rules<State, Event>, known: Known, expected: Checkpoint, partition: number) {
    this.counts = { ...expected.counts }
    this.#rules = rules
    this.#known = known
    this.#from = expected.next
    this.#partition = partition
    this.#parkedStreams = new Set(known.parkedStreams)
  }

  get changes(): Omit<Batch, 'partition' | 'expected' | 'checkpoint'> {
    const changes: StreamChanges = { documents: [], rows: [], rowsShown: [] }
    for (const stream of this.#streams.values()) stream.addChanges(changes)
    return {
      newStreams: [...this.#streams.keys()].filter((stream) => !this.#known.rows.has(stream)),
      ...changes,
      keys: [...this.#keys.values()],
      parked: [...this.#parked.values()],
      unparked: this.#unparked,
      withoutEffect: [...this.#withoutEffect],
    }
  }

  take(event: StreamEvent<Event> | Discard | undefined): void {
    if (event === undefined) this.counts.skipped++
    else if (event.discards !== undefined) this.#discard(event)
    else this.#takeEvent(event)
  }

  #takeEvent(event: StreamEvent<Event>): void {
    const { offset, stream, value } = event
    const result = this.#parkedStreams.has(stream) ? behindParked : this.#decide(event)
    this.counts[result.outcome]++
    if (result.outcome !== 'applied') this.#withoutEffect.add(offset)
    if (result.outcome !== 'parked') return
    const parked = { partition: this.#partition, offset, stream, reason: result.reason, value: String(value) }
    this.#queue(stream).push(parked)
    this.#parked.set(offset, parked)
    this.#parkedStreams.add(stream)
  }

  /** Without the first parked event, the events behind it are applied in turn, up to one that cannot be. */
  #discard({ offset, stream, discards }: Discard): void {
    const queue = this.#queue(stream)
    if (queue[0]?.offset !== discards) {
      this.counts.superseded++
      this.#withoutEffect.add(offset)
      return
    }
    this.counts.applied++
    this.#unparkFirst(queue, 'discarded')
    this.#stream(stream).passOver()
    for (let first = queue[0]; first !== undefined; first = queue[0]) {
      const event = readParked(this.#rules, first)
      if (event === undefined) return
      const result = this.#decide(event)
      if (result.outcome === 'parked') {
        queue[0] = { ...first, reason: result.reason }
        this.#parked.set(first.offset, queue[0])
        return
      }
      this.#unparkFirst(queue, result.outcome)
      if (result.outcome === 'applied') this.#withoutEffect.delete(first.offset)
    }
  }

  #unparkFirst(queue: ParkedEvent[], outcome: keyof Counts): void {
    const event = queue.shift()
    if (event === undefined) return
    this.counts.parked--
    this.counts[outcome]++
    this.#parked.delete(event.offset)
    if (event.offset < this.#from) this.#unparked.push(event)
    if (queue.length === 0) this.#parkedStreams.delete(event.stream)
  }

  /** The outcome of an event with no parked event before it. */
  #decide(event: StreamEvent<Event>): Outcome {
    const { version, key, offset, fingerprint, stream: name, decoded, time } = event
    const stream = this.#stream(name)
    if (version !== stream.version + 1) return { outcome: 'superseded' }
    if (key !== undefined && (this.#known.decidedKeys.has(key) || this.#keys.has(key))) return { outcome: 'duplicate' }
    const problem = this.#apply(stream, event, version)
    if (key !== undefined) {
      const [id, parked] = [decoded.outcome === 'event' ? decoded.id : 0, problem !== undefined]
      const decision = { offset, fingerprint, stream: name, id, version, time, parked }
      this.#keys.set(key, { partition: this.#partition, key, ...decision })
    }
    return problem === undefined ? applied : { outcome: 'parked', reason: problem }
  }

  /** Applies the event, or returns the reason why that is impossible. */
  #apply(
    stream: StreamState<State, Event>,
    { decoded, time, offset }: StreamEvent<Event>,
    version: number,
  ): string | undefined {
    if (decoded.outcome !== 'event') return decoded.reason
    try {
      stream.apply({ event: decoded.event, version, time }, offset, (added) => {
        for (const document of added) this.#checkNew(document, stream)
        for (const document of added) this.#addedDocuments.add(documentName(document))
      })
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  /** Throws if the document belongs to another stream, or may come to belong to one. */
  #checkNew(document: Document, stream: StreamState<State, Event>): void {
    const { collection, id } = document
    const name = documentName(document)
    if (collection === this.#rules.definition.home) throw new Error(`${name} belongs to the stream ${id}`)
    if (this.#rules.log.partitionFor(String(id)) !== this.#partition)
      throw new Error(`${name} belongs to another partition`)
    const isTaken = this.#known.takenDocuments.has(name) || this.#addedDocuments.has(name) || stream.hasShown(document)
    if (isTaken) throw new Error(`${name} exists already`)
  }

  #queue(stream: StreamId): ParkedEvent[] {
    const queue = this.#queues.get(stream) ?? [...(this.#known.queues.get(stream) ?? [])]
    this.#queues.set(stream, queue)
    return queue
  }

  #stream(name: StreamId): StreamState<State, Event> {
    const known = this.#streams.get(name)
    if (known !== undefined) return known
    const stream = new StreamState(this.#rules.definition, name, this.#known.rows.get(name))
    this.#streams.set(name, stream)
    return stream
  }
}
