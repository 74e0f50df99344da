import { setImmediate as nextTurn } from 'node:timers/promises'
import { kindOrFirst } from '../definition/kinds.ts'
import type { AnyStream } from '../door/stream.ts'
import { DamagedError, quoted } from '../read-models/damaged.ts'
import type { StreamId, StreamRow } from '../read-models/stored-texts.ts'
import type { StreamEvent } from '../rule/stream-event.ts'
import type { KnownStreams } from './known-streams.ts'
import { type EventRecord, entriesOf, eventsOf, type JournalOptions } from './told-events.ts'

interface KnownState {
  readonly version: number
  readonly state: unknown
}

const statesMax = 1000
const entriesAtOnce = 200

/** States of streams after events that took effect. What follows from the log alone can be kept, whatever is committed. */
export class StreamStates {
  readonly #options: JournalOptions
  readonly #kept = new Map<StreamId, KnownState>()

  constructor(options: JournalOptions) {
    this.#options = options
  }

  /** The state after each event of the record that has this version. */
  async after({ event }: EventRecord, version: number, streams: KnownStreams): Promise<readonly unknown[]> {
    const { stream, decoded } = event
    const { row } = await streams.find(stream, [])
    const isOne = decoded.outcome === 'events' && decoded.events.length === 1
    const states =
      isOne && row?.version === version
        ? [this.#read(row)]
        : this.#evolve(await this.#at(stream, version - 1, streams), event, version)
    this.#keep(stream, { version, state: states.at(-1) })
    return states
  }

  /** From the last known state on, or from the first event. */
  async #at(stream: StreamId, version: number, streams: KnownStreams): Promise<unknown> {
    const kept = this.#kept.get(stream)
    const isBefore = kept !== undefined && kept.version <= version
    let state = isBefore ? kept.state : this.#streamOf(stream).initial
    for (let first = isBefore ? kept.version + 1 : 1; first <= version; first += entriesAtOnce) {
      const entries = await entriesOf(streams, stream, first, Math.min(version, first + entriesAtOnce - 1))
      const events = await eventsOf(this.#options, stream, entries)
      for (const [i, { offset }] of entries.entries()) {
        const found = events.get(offset)
        if (found !== undefined) state = this.#evolve(state, found.event, first + i).at(-1)
      }
      await nextTurn() // others go on while a long stream is folded
    }
    return state
  }

  #read(row: StreamRow): unknown {
    try {
      return kindOrFirst(this.#options.definition, row.stream).codec.read(row)
    } catch (cause) {
      throw new DamagedError(`the state of stream ${quoted(row.stream)} cannot be read`, { cause })
    }
  }

  #evolve(before: unknown, { decoded, time, stream }: StreamEvent, version: number): readonly unknown[] {
    if (decoded.outcome !== 'events') throw new Error(`version ${version} of stream ${stream} cannot be read`)
    let state = before
    return decoded.events.map((event) => {
      state = this.#streamOf(stream).evolve(state, { event, version, time })
      return state
    })
  }

  #streamOf(stream: StreamId): AnyStream {
    return kindOrFirst(this.#options.definition, stream).stream
  }

  #keep(stream: StreamId, known: KnownState): void {
    this.#kept.delete(stream)
    this.#kept.set(stream, known)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > statesMax && oldest !== undefined) this.#kept.delete(oldest)
  }
}
