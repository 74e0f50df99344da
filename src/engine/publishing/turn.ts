import type { EventLog, LogRecord, NewRecord, Offset } from '../log/event-log.ts'
import { lostEnd } from '../log/lost-end.ts'
import type { PartitionMemory, PartitionTurn } from '../log/published-log.ts'
import { readAt } from '../log/read-at.ts'
import { eventText } from '../log/record-codec.ts'
import { isSameRecord, recordIdentity } from '../log/record-identity.ts'
import { shownEvent } from '../log/shown-event.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import { isEntryOf, type StreamId, type VersionEntry } from '../read-models/stored-texts.ts'
import type { Rules } from '../rule/rules.ts'
import { type Discard, readEvent, type StreamEvent } from '../rule/stream-event.ts'
import { KnownStreams } from './known-streams.ts'

export interface TurnOptions extends Rules {
  readonly log: Pick<EventLog, 'read' | 'endOffsets' | 'partitionFor' | 'partitions'>
  readonly readModel: Pick<ReadModel, 'loadAll'>
  /** Records of the journal and entries of streams that a turn passes at most; by default 1,000. */
  readonly steps?: number
}

/** A turn that nobody has committed yet, and the streams that are to be looked at behind it. */
export interface TakenTurn {
  readonly turn: PartitionTurn
  readonly due: ReadonlySet<StreamId>
  /** Whether it had room for no more. */
  readonly isFull: boolean
}

const stepsMax = 1000
/** Bytes that one turn tells: less than the largest batch that brokers take by default. */
const bytesMax = 512 * 1024
/** Streams looked at together. */
const dueAtOnce = 100
const entriesAtOnce = 200

/**
 * The next turn of a partition: what took effect behind the memory, as far as the read models have proved it (decision
 * 0069). `due`: streams that wait and may wait no more. Throws StandsStill where the journal has lost its end, and
 * otherwise what `ReadModel.load` and `EventLog.read` throw: then there is no turn, and nothing is lost.
 */
export async function takeTurn(
  options: TurnOptions,
  partition: number,
  memory: PartitionMemory,
  due: ReadonlySet<StreamId>,
): Promise<TakenTurn> {
  const turn = new Turn(options, partition, memory, due)
  await turn.releaseDue()
  if (!turn.isFull) await turn.pass()
  return turn.taken
}

class Turn {
  readonly #options: TurnOptions
  readonly #partition: number
  readonly #memory: PartitionMemory
  readonly #streams: KnownStreams
  readonly #due: Set<StreamId>
  readonly #places = new Map<StreamId, Offset | undefined>()
  readonly #records: NewRecord[] = []
  readonly #stepsMax: number
  #next: Offset
  /** The last record passed. */
  #last: LogRecord | undefined
  #steps = 0
  #bytes = 0
  #isFull = false

  constructor(options: TurnOptions, partition: number, memory: PartitionMemory, due: ReadonlySet<StreamId>) {
    this.#options = options
    this.#partition = partition
    this.#memory = memory
    this.#due = new Set(due)
    this.#next = memory.next
    this.#stepsMax = options.steps ?? stepsMax
    this.#streams = new KnownStreams(options.readModel, partition, memory.next)
  }

  get isFull(): boolean {
    return this.#isFull
  }

  get taken(): TakenTurn {
    const { last, told } = this.#memory
    const passed = this.#last && { offset: this.#last.offset, identity: recordIdentity(this.#last) }
    const progress = { next: this.#next, last: passed ?? last, told: told + this.#records.length }
    return {
      turn: { partition: this.#partition, records: this.#records, progress, places: this.#places },
      due: this.#due,
      isFull: this.#isFull,
    }
  }

  /** Tells what took effect of streams that waited. */
  async releaseDue(): Promise<void> {
    while (this.#due.size > 0 && !this.#isFull) {
      const streams = [...this.#due].slice(0, dueAtOnce)
      await this.#streams.lookUp(new Map(streams.map((stream) => [stream, []])))
      for (const stream of streams) if (!this.#isFull) await this.#release(stream)
    }
  }

  /** Passes the records of the journal behind the position. */
  async pass(): Promise<void> {
    const { log } = this.#options
    const { last, next: position } = this.#memory
    const read = await log.read(this.#partition, last?.offset ?? position, this.#stepsMax + 1)
    if (last !== null && !isSameRecord(read.records[0], last)) throw await lostEnd(log, this.#partition, last.offset)
    const records = read.records.filter(({ offset }) => offset >= position)
    const events = records.map((record) => readEvent(this.#options, this.#partition, record))
    const end = await this.#look(events, read.next)
    for (const [i, record] of records.entries()) {
      if (record.offset >= end) break
      const event = events[i]
      if (!this.#hasStep(record)) return
      if (event !== undefined) await this.#passEvent(event, record)
      this.#last = record
      this.#next = record.offset + 1
      await this.releaseDue()
    }
    this.#next = Math.max(this.#next, end)
  }

  /** Loads the streams of these events; resolves to the offset up to which the read models and the log go. */
  async #look(events: readonly (StreamEvent | Discard | undefined)[], next: Offset): Promise<Offset> {
    const wanted = new Map<StreamId, number[]>()
    for (const event of events) {
      if (event === undefined) continue
      const versions = wanted.get(event.stream) ?? []
      const isAsked = event.discards === undefined && this.#placeOf(event.stream) === undefined
      if (isAsked) versions.push(event.version ?? 0)
      wanted.set(event.stream, versions)
    }
    for (const versions of wanted.values()) versions.sort((one, other) => one - other)
    await this.#streams.lookUp(wanted)
    return wanted.size === 0 ? next : Math.min(next, this.#streams.proved)
  }

  async #passEvent(event: StreamEvent | Discard, record: LogRecord): Promise<void> {
    const { stream, offset } = event
    const isWaiting = this.#placeOf(stream) !== undefined
    if (event.discards !== undefined) {
      if (isWaiting) this.#due.add(stream)
      return
    }
    if (isWaiting) return
    const { version = 0 } = event
    const { entries, parked } = this.#streams.known(stream, version) ?? (await this.#streams.find(stream, [version]))
    const entry = entries.get(version)
    if (entry !== undefined && isEntryOf(entry, event)) {
      if (!entry.isDiscarded) this.#tell(stream, record)
    } else if (parked !== undefined && offset >= parked) this.#places.set(stream, offset)
  }

  /** Tells what of a stream has taken effect from its place on, before the position of the turn. */
  async #release(stream: StreamId): Promise<void> {
    const place = this.#placeOf(stream) ?? 0
    const { version, parked } = await this.#streams.find(stream, [])
    // A release that parks what another one has told can say nothing of what follows.
    const isBehind = parked !== undefined && parked <= place
    const stoppedAt = isBehind ? undefined : await this.#tellFrom(stream, place, version)
    if (stoppedAt !== undefined) {
      this.#places.set(stream, stoppedAt)
      return
    }
    this.#due.delete(stream)
    if (isBehind) return
    this.#places.set(stream, parked !== undefined && parked < this.#next ? parked : undefined)
  }

  /** The offset of the first entry that there was no room for. */
  async #tellFrom(stream: StreamId, place: Offset, version: number): Promise<Offset | undefined> {
    for (let first = await this.#firstFrom(stream, place, version); first <= version; first += entriesAtOnce) {
      const versions = [first, Math.min(version, first + entriesAtOnce - 1)]
      const all = await this.#entries(stream, versions)
      const entries = all.filter(({ offset }) => offset < this.#next)
      const records = await this.#recordsOf(
        stream,
        entries.filter(({ isDiscarded }) => !isDiscarded),
      )
      for (const entry of entries) {
        const record = records.get(entry.offset)
        if (!this.#hasStep(record)) return entry.offset
        if (record !== undefined) this.#tell(stream, record)
      }
      if (entries.length < all.length) return undefined
    }
    return undefined
  }

  /** The first version of a stream whose entry is at this offset or behind it; the one behind the last where none is. */
  async #firstFrom(stream: StreamId, place: Offset, version: number): Promise<number> {
    let [low, high] = [1, version + 1]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const [entry] = await this.#entries(stream, [middle, middle])
      if (entry === undefined) throw new Error(`stream ${stream} has no entry of version ${middle}`)
      if (entry.offset < place) low = middle + 1
      else high = middle
    }
    return low
  }

  async #entries(stream: StreamId, [first = 0, last = 0]: readonly number[]): Promise<VersionEntry[]> {
    const versions = Array.from({ length: last - first + 1 }, (_, i) => first + i)
    const { entries } = await this.#streams.find(stream, versions)
    return versions.flatMap((version) => entries.get(version) ?? [])
  }

  async #recordsOf(stream: StreamId, entries: readonly VersionEntry[]): Promise<ReadonlyMap<Offset, LogRecord>> {
    const offsets = entries.map(({ offset }) => offset)
    const records = await readAt(this.#options.log, this.#partition, offsets)
    for (const [i, record] of records.entries()) {
      const event = readEvent(this.#options, this.#partition, record)
      const entry = entries[i]
      const isItsOwn = event?.discards === undefined && event?.stream === stream && entry && isEntryOf(entry, event)
      if (!isItsOwn) throw new Error(`offset ${record.offset} is not the event that stream ${stream} has there`)
    }
    return new Map(records.map((record) => [record.offset, record]))
  }

  #tell(stream: StreamId, record: LogRecord): void {
    const value = shownEvent(eventText(record.value))
    this.#records.push({ key: stream, value, headers: {} })
  }

  /** Whether the turn has room for one more, of which this record may be told. */
  #hasStep(record: LogRecord | undefined): boolean {
    const bytes = record?.value?.length ?? 0
    const isFull = this.#steps >= this.#stepsMax || (this.#steps > 0 && this.#bytes + bytes > bytesMax)
    if (isFull) this.#isFull = true
    else {
      this.#steps++
      this.#bytes += bytes
    }
    return !isFull
  }

  #placeOf(stream: StreamId): Offset | undefined {
    return this.#places.has(stream) ? this.#places.get(stream) : this.#memory.waiting.get(stream)
  }
}
