import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LogRecord, Offset } from '../log/event-log.ts'
import { lostEnd } from '../log/lost-end.ts'
import type { PartitionMemory, PartitionTurn, ToldRecord } from '../log/published-log.ts'
import { isSameRecord, recordIdentity } from '../log/record-identity.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import { isEntryOf, type StreamId } from '../read-models/stored-texts.ts'
import { type Discard, readEvent, type StreamEvent } from '../rule/stream-event.ts'
import { KnownStreams } from './known-streams.ts'
import type { Teller } from './teller.ts'
import { type EventRecord, entriesOf, eventsOf, type JournalOptions } from './told-events.ts'

export interface TurnOptions extends JournalOptions {
  readonly readModel: Pick<ReadModel, 'loadAll'>
  readonly teller: Teller
  /** Records of the journal and entries of streams that a turn passes at most; by default 1,000. */
  readonly steps?: number
}

/** A turn that nobody has committed yet, and the streams that are to be looked at behind it. */
export interface TakenTurn {
  readonly turn: PartitionTurn
  readonly due: ReadonlySet<StreamId>
  /** Whether it left something that it could have taken, for another turn at once. */
  readonly leavesMore: boolean
}

const stepsMax = 1000
/** Bytes that one turn tells, unless one event alone comes to more. */
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

/** Requests wait for no more than so many events at a time. */
const eventsAtATime = 50

async function letOthersGoOn(done: number): Promise<void> {
  if (done % eventsAtATime === 0) await nextTurn()
}

class Turn {
  readonly #options: TurnOptions
  readonly #partition: number
  readonly #memory: PartitionMemory
  readonly #streams: KnownStreams
  readonly #due: Set<StreamId>
  readonly #places = new Map<StreamId, Offset | undefined>()
  readonly #records: ToldRecord[] = []
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
    const { last, told, filled } = this.#memory
    const passed = this.#last && { offset: this.#last.offset, identity: recordIdentity(this.#last) }
    const progress = { next: this.#next, last: passed ?? last, told: told + this.#records.length, filled }
    return {
      turn: { partition: this.#partition, records: this.#records, progress, places: this.#places },
      due: this.#due,
      leavesMore: this.#isFull,
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
    const events: (StreamEvent | Discard | undefined)[] = []
    for (const record of records) {
      events.push(readEvent(this.#options, this.#partition, record))
      await letOthersGoOn(events.length)
    }
    const end = await this.#look(events, read.next)
    for (const [i, record] of records.entries()) {
      if (record.offset >= end) break
      if (!(await this.#passed(events[i], record))) return
      this.#last = record
      this.#next = record.offset + 1
      await letOthersGoOn(i + 1)
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

  /** Whether there was room for what is to be told of it. */
  async #passed(event: StreamEvent | Discard | undefined, record: LogRecord): Promise<boolean> {
    if (event === undefined) return this.#takeStep([])
    const { stream, offset } = event
    const isWaiting = this.#placeOf(stream) !== undefined
    if (event.discards !== undefined) {
      if (!this.#takeStep([])) return false
      if (isWaiting) this.#due.add(stream)
      return true
    }
    if (isWaiting) return this.#takeStep([])
    const { version = 0 } = event
    const { entries, parked } = this.#streams.known(stream, version) ?? (await this.#streams.find(stream, [version]))
    const entry = entries.get(version)
    if (entry !== undefined && isEntryOf(entry, event)) {
      return entry.isDiscarded ? this.#takeStep([]) : await this.#told({ event, record })
    }
    if (!this.#takeStep([])) return false
    if (parked !== undefined && offset >= parked) this.#places.set(stream, offset)
    return true
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
      const all = await entriesOf(this.#streams, stream, first, Math.min(version, first + entriesAtOnce - 1))
      const entries = all.filter(({ offset }) => offset < this.#next)
      const events = await eventsOf(this.#options, stream, entries)
      for (const { offset } of entries) {
        const event = events.get(offset)
        const isTold = event === undefined ? this.#takeStep([]) : await this.#told(event)
        if (!isTold) return offset
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
      const [entry] = await entriesOf(this.#streams, stream, middle, middle)
      if (entry !== undefined && entry.offset < place) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Whether there was room for it. */
  async #told(event: EventRecord): Promise<boolean> {
    if (this.#steps >= this.#stepsMax) return this.#takeStep([])
    return this.#takeStep(await this.#options.teller.tell(event, this.#streams))
  }

  /** Whether the turn has room for one more, of which this is told. */
  #takeStep(records: readonly ToldRecord[]): boolean {
    const bytes = records.reduce((sum, { value }) => sum + Buffer.byteLength(value ?? ''), 0)
    const isFull = this.#steps >= this.#stepsMax || (this.#bytes > 0 && this.#bytes + bytes > bytesMax)
    if (isFull) this.#isFull = true
    else {
      this.#steps++
      this.#bytes += bytes
      this.#records.push(...records)
    }
    return !isFull
  }

  #placeOf(stream: StreamId): Offset | undefined {
    return this.#places.has(stream) ? this.#places.get(stream) : this.#memory.waiting.get(stream)
  }
}
