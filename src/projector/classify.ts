import type { EventLog, LogRecord, Offset } from '../event-log/event-log.ts'
import type { Checkpoint, Counts } from '../read-models/checkpoint.ts'
import type { DocumentId } from '../read-models/document.ts'
import type { IdempotencyRecord } from '../read-models/idempotency-record.ts'
import type { ParkedEvent } from '../read-models/parked-event.ts'
import type { Batch } from '../read-models/projection-store.ts'
import type { StreamId, StreamRow } from '../read-models/stream-row.ts'
import type { Document, StreamDefinition } from './definition.ts'
import { type Parked, ParkedQueues } from './parked-queues.ts'
import { type DiscardContent, type EventContent, type RecordContent, recordIdentity } from './record-content.ts'
import { type StreamChanges, StreamState } from './stream-state.ts'

/** Consecutive records of one partition, read. */
export interface ReadBatch<Event> {
  readonly partition: number
  readonly contents: readonly RecordContent<Event>[]
  /** Undefined for a batch without records: only the position moves. */
  readonly lastRecord: LogRecord | undefined
  readonly next: Offset
}

/** What the records before a batch have left behind that its own records may meet. */
export interface Known<Event> {
  /** The rows of the streams that were looked up; any other stream is taken to be new, with nothing parked. */
  readonly rows: ReadonlyMap<StreamId, StreamRow | undefined>
  readonly parkedStreams: ReadonlySet<StreamId>
  /** Everything parked under each stream that a record of the batch discards from, in order of offset. */
  readonly queues: ReadonlyMap<StreamId, readonly Parked<Event>[]>
  readonly decidedKeys: ReadonlySet<string>
  /** The documents that the store refused to add, by `documentName`; any other that its stream does not show is taken to be new. */
  readonly takenDocuments: ReadonlySet<string>
}

export interface Rules<State, Event> {
  readonly definition: StreamDefinition<State, Event>
  readonly log: Pick<EventLog, 'partitionFor'>
}

/**
 * Tells, in log order, what becomes of each record: the rules of docs/events.md. Pure; and the outcome depends on the log
 * alone, not on how it is cut into batches.
 */
export function classify<State, Event>(
  batch: ReadBatch<Event>,
  expected: Checkpoint,
  known: Known<Event>,
  rules: Rules<State, Event>,
): Batch {
  const classifier = new Classifier(batch.partition, expected, known, rules)
  for (const content of batch.contents) classifier.take(content)
  const { partition, lastRecord, next } = batch
  const last = lastRecord ? { offset: lastRecord.offset, identity: recordIdentity(lastRecord) } : expected.last
  return { partition, expected, checkpoint: { next, last, counts: classifier.counts }, ...classifier.changes }
}

export function documentName({ collection, id }: DocumentId): string {
  return `${collection} ${id}`
}

type Outcome =
  | { readonly outcome: 'applied' | 'duplicate' | 'superseded' }
  | { readonly outcome: 'parked'; readonly reason: string }

const applied: Outcome = { outcome: 'applied' }
const behindParked: Outcome = { outcome: 'parked', reason: 'an earlier event of this stream is parked' }

class Classifier<State, Event> {
  readonly counts: { -readonly [Name in keyof Counts]: number }
  readonly #partition: number
  readonly #known: Known<Event>
  readonly #rules: Rules<State, Event>
  readonly #streams = new Map<StreamId, StreamState<State, Event>>()
  readonly #queues: ParkedQueues<Event>
  readonly #keys = new Map<string, IdempotencyRecord>()
  readonly #addedDocuments = new Set<string>()
  readonly #withoutEffect = new Set<Offset>()

  constructor(partition: number, expected: Checkpoint, known: Known<Event>, rules: Rules<State, Event>) {
    this.counts = { ...expected.counts }
    this.#partition = partition
    this.#known = known
    this.#rules = rules
    this.#queues = new ParkedQueues(expected.next, known.parkedStreams, known.queues)
  }

  get changes(): Omit<Batch, 'partition' | 'expected' | 'checkpoint'> {
    const changes: StreamChanges = { documents: [], rows: [], rowsShown: [] }
    for (const stream of this.#streams.values()) stream.addChanges(changes)
    return {
      newStreams: [...this.#streams.keys()].filter((stream) => !this.#known.rows.has(stream)),
      ...changes,
      ...this.#queues.changes,
      keys: [...this.#keys.values()],
      withoutEffect: [...this.#withoutEffect],
    }
  }

  take(content: RecordContent<Event>): void {
    if (content.kind === 'skipped') this.counts.skipped++
    else if (content.kind === 'discard') this.#discard(content)
    else this.#takeEvent(content)
  }

  #takeEvent(content: EventContent<Event>): void {
    const stream = this.#stream(content.stream)
    const result = this.#queues.has(content.stream) ? behindParked : this.#decide(stream, content)
    this.counts[result.outcome]++
    if (result.outcome !== 'applied') this.#withoutEffect.add(content.offset)
    if (result.outcome === 'parked') {
      const { offset, stream: name, record } = content
      const event = { partition: this.#partition, offset, stream: name, reason: result.reason }
      this.#queues.put({ event: { ...event, value: String(record.value) }, content })
    }
  }

  /** With the first parked event out of the way those behind it take their turn, up to one that cannot be applied either. */
  #discard({ offset, stream, target }: DiscardContent): void {
    const queue = this.#queues.of(stream)
    const first: Parked<Event> | undefined = queue.next().value
    if (first?.event.offset !== target) {
      this.counts.superseded++
      this.#withoutEffect.add(offset)
      return
    }
    this.counts.applied++
    this.#unpark(first.event, 'discarded')
    this.#stream(stream).passOver()
    for (const { event, content } of queue) {
      if (content === undefined) return
      const result = this.#decide(this.#stream(stream), content)
      if (result.outcome === 'parked') {
        this.#queues.put({ event: { ...event, reason: result.reason }, content })
        return
      }
      this.#unpark(event, result.outcome)
      if (result.outcome === 'applied') this.#withoutEffect.delete(event.offset)
    }
  }

  #unpark(event: ParkedEvent, outcome: keyof Counts): void {
    this.#queues.remove(event)
    this.counts.parked--
    this.counts[outcome]++
  }

  /** What becomes of an event that nothing is parked before. */
  #decide(stream: StreamState<State, Event>, content: EventContent<Event>): Outcome {
    const { version, key } = content
    if (version !== stream.version + 1) return { outcome: 'superseded' }
    if (key !== undefined && (this.#known.decidedKeys.has(key) || this.#keys.has(key))) return { outcome: 'duplicate' }
    const problem = this.#apply(stream, content, version)
    if (key !== undefined) {
      const { offset, fingerprint, stream: name, decoded, time } = content
      const [id, parked] = [decoded.outcome === 'event' ? decoded.id : 0, problem !== undefined]
      const decision = { offset, fingerprint, stream: name, id, version, time, parked }
      this.#keys.set(key, { partition: this.#partition, key, ...decision })
    }
    return problem === undefined ? applied : { outcome: 'parked', reason: problem }
  }

  /** Has the event take effect; or returns why it cannot. */
  #apply(
    stream: StreamState<State, Event>,
    { decoded, time, offset }: EventContent<Event>,
    version: number,
  ): string | undefined {
    if (decoded.outcome !== 'event') return decoded.reason
    try {
      const next = stream.after({ event: decoded.event, version, time })
      for (const document of next.added) this.#checkNew(document, stream)
      for (const document of next.added) this.#addedDocuments.add(documentName(document))
      stream.take(next, offset)
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  /** Throws where the document belongs to another stream, or may come to. */
  #checkNew(document: Document, stream: StreamState<State, Event>): void {
    const { collection, id } = document
    const name = documentName(document)
    if (collection === this.#rules.definition.home) throw new Error(`${name} is for the stream ${id} to show`)
    if (this.#rules.log.partitionFor(String(id)) !== this.#partition) throw new Error(`${name} is of another partition`)
    const isTaken = this.#known.takenDocuments.has(name) || this.#addedDocuments.has(name) || stream.hasShown(document)
    if (isTaken) throw new Error(`${name} exists already`)
  }

  #stream(name: StreamId): StreamState<State, Event> {
    const known = this.#streams.get(name)
    if (known !== undefined) return known
    const stream = new StreamState(this.#rules.definition, name, this.#known.rows.get(name))
    this.#streams.set(name, stream)
    return stream
  }
}
