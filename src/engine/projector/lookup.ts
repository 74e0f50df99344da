import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EventLog, Offset } from '../log/event-log.ts'
import { RecordGoneError, readAt } from '../log/read-at.ts'
import type { ApplyResult, LoadRequest, PartitionState } from '../read-models/ports/projection.ts'
import { type ParkedStream, type StreamId, waitingChunks, waitingPerChunk } from '../read-models/stored-texts.ts'
import { chunkId } from '../read-models/stream-history.ts'
import { documentName } from '../rule/apply-event.ts'
import { PartitionBefore, type ReadBatch } from '../rule/classify.ts'
import type { Rules } from '../rule/rules.ts'
import { readEvent, type StreamEvent } from '../rule/stream-event.ts'

/** Parked events that are read from the log at once. */
const pageMax = 500

export interface LookupOptions extends Rules {
  readonly log: Pick<EventLog, 'partitionFor' | 'read' | 'endOffsets'>
  /**
   * Called with each page of parked events that a discard takes up, which can take long. Returns whether to go on.
   */
  readonly tookUp?: ((partition: number) => boolean) | undefined
}

type Request = Omit<LoadRequest, 'partition'>
const nothing: Request = { streams: [], keys: [], waiting: [] }

/** The partition is not at the expected checkpoint any more, nobody needs it there, or its generation is incomplete. */
export class NotAsExpected extends Error {
  readonly isIncomplete: boolean

  constructor(isIncomplete = false) {
    super('the partition is not as expected')
    this.isIncomplete = isIncomplete
  }
}

/** Loads what a batch needs to know of its partition. Each method throws NotAsExpected, and what loading throws. */
export class Lookup extends PartitionBefore {
  readonly #options: LookupOptions
  readonly #partition: number
  readonly #load: (request: Request) => Promise<PartitionState>
  /** What records of the batch discard, by stream. */
  readonly #discarded = new Map<StreamId, Set<Offset>>()

  /** `load` throws NotAsExpected if the partition is not at the expected checkpoint. */
  constructor(options: LookupOptions, partition: number, load: (request: Request) => Promise<PartitionState>) {
    super()
    this.#options = options
    this.#partition = partition
    this.#load = load
  }

  /**
   * A stream whose first event comes first in the batch is assumed to be new, which the store checks: a replay of
   * creations loads nothing.
   */
  async lookUp(events: ReadBatch['events']): Promise<void> {
    const [streams, begun, keys] = [new Set<StreamId>(), new Set<StreamId>(), new Set<string>()]
    for (const event of events) {
      if (event === undefined) continue
      const { stream } = event
      if (event.discards !== undefined)
        this.#discarded.set(stream, (this.#discarded.get(stream) ?? new Set()).add(event.discards))
      else if (event.key !== undefined) keys.add(event.key)
      if (event.discards === undefined && event.version === 1) begun.add(stream)
      else if (!begun.has(stream)) streams.add(stream)
    }
    await this.#learnStreams([...streams], [...keys])
  }

  /** Something assumed to be new exists. */
  async learn({ streams, documents }: Extract<ApplyResult, { outcome: 'exist' }>): Promise<void> {
    const { names } = this.#options.definition
    const shown = documents.flatMap((document) => names.streamOf(document) ?? [])
    const unknown = [...new Set([...streams, ...shown])].filter((stream) => !this.rows.has(stream))
    const taken = documents.filter(({ collection }) => !names.isOwn(collection)).map(documentName)
    if (unknown.length === 0 && taken.every((name) => this.takenDocuments.has(name))) {
      throw new Error(
        `the store refuses documents or streams that it does not contain: ${JSON.stringify({ streams, documents })}`,
      )
    }
    for (const name of taken) this.takenDocuments.add(name)
    await this.#learnStreams(unknown, [])
  }

  async *takeUp(stream: StreamId, offsets: readonly Offset[]): AsyncGenerator<readonly StreamEvent[]> {
    const { log, tookUp } = this.#options
    for (let at = 0; at < offsets.length; at += pageMax) {
      const records = await readAt(log, this.#partition, offsets.slice(at, at + pageMax))
      const page = records.map((record) => {
        const event = readEvent(this.#options, this.#partition, record)
        if (event?.discards !== undefined || event?.stream !== stream) {
          throw new RecordGoneError(this.#partition, record.offset)
        }
        return event
      })
      await this.#learnStreams([], [...new Set(page.flatMap(({ key }) => key ?? []))])
      yield page
      if (tookUp?.(this.#partition) === false) throw new NotAsExpected()
      await nextTurn()
    }
  }

  async #learnStreams(streams: readonly StreamId[], keys: readonly string[]): Promise<void> {
    if (streams.length + keys.length === 0) return
    const state = await this.#load({ ...nothing, streams, keys })
    if (!state.isComplete) throw new NotAsExpected(true)
    for (const { first, waiting } of state.parked.values())
      if (first + waiting >= state.checkpoint.next) throw new NotAsExpected(true) // more than there were
    for (const stream of streams) this.rows.set(stream, state.rows.get(stream))
    for (const key of state.decidedKeys) this.decidedKeys.add(key)
    for (const [stream, parked] of state.parked) this.parked.set(stream, parked)
    await this.#learnWaiting([...state.parked.values()])
  }

  async #learnWaiting(parked: readonly ParkedStream[]): Promise<void> {
    const chunks = parked.map((each) => ({ each, ids: this.#chunksOf(each) }))
    const waiting = chunks.flatMap(({ ids }) => ids)
    const state = waiting.length === 0 ? undefined : await this.#load({ ...nothing, waiting })
    for (const { each, ids } of chunks) {
      const offsets = ids.flatMap((id) => state?.waiting.get(id) ?? [])
      const isFull = ids.length === 0 || (each.waiting - offsets.length) % waitingPerChunk === 0
      const isWhole = this.#isReleased(each) ? offsets.length === each.waiting : isFull
      if (!isWhole) throw new NotAsExpected(true)
      this.waiting.set(each.stream, offsets)
    }
  }

  /** The chunks with what waits that a batch needs: the last one, if there is room in it, to add to it. */
  #chunksOf(parked: ParkedStream): readonly string[] {
    const { stream, waiting } = parked
    const end = waitingChunks(waiting)
    const isReleased = this.#isReleased(parked)
    const isNeeded = (chunk: number) => isReleased || waiting < (chunk + 1) * waitingPerChunk
    return Array.from({ length: end }, (_, chunk) => chunk)
      .filter(isNeeded)
      .map((chunk) => chunkId(stream, chunk))
  }

  /** Whether the batch discards the first parked event: any other discard has no effect, however much waits. */
  #isReleased({ stream, first }: ParkedStream): boolean {
    return this.#discarded.get(stream)?.has(first) ?? false
  }
}
