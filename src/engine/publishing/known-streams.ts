import type { Offset } from '../log/event-log.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import type { StreamId, StreamRow, VersionEntry } from '../read-models/stored-texts.ts'
import type { VersionRange } from '../read-models/stream-history.ts'

/** A stream as of its first load of a turn, with the entries that were asked for since. */
export interface KnownStream {
  readonly version: number
  readonly row: StreamRow | undefined
  /** The offset of its first parked event. */
  readonly parked: Offset | undefined
  readonly entries: Map<number, VersionEntry>
}

/** Streams, and versions of one stream, of one load. */
const streamsMax = 100
const versionsMax = 256
const waitMs = 250

type Wanted = readonly [stream: StreamId, versions: readonly number[]]

/**
 * What the read models say of streams of a partition during one turn. The version of a stream and what is parked of it
 * come from its first load: a later one would know of a discard that the turn has not come to. The turn passes no record
 * that its very first load did not prove: a stream loaded before would not know of a discard that the turn has come to.
 */
export class KnownStreams {
  readonly #readModel: Pick<ReadModel, 'loadAll'>
  readonly #partition: number
  readonly #known = new Map<StreamId, KnownStream>()
  #proved: Offset
  #isProved = false

  /** Each load proves at least what is before `proved`. */
  constructor(readModel: Pick<ReadModel, 'loadAll'>, partition: number, proved: Offset) {
    this.#readModel = readModel
    this.#partition = partition
    this.#proved = proved
  }

  /** How far the read models were with the first load: each later one proves that too. */
  get proved(): Offset {
    return this.#proved
  }

  /** Loads those of these streams that are not known, with entries of these versions. */
  async lookUp(wanted: ReadonlyMap<StreamId, readonly number[]>): Promise<void> {
    const unknown = [...wanted].filter(([stream]) => !this.#known.has(stream))
    for (let at = 0; at < unknown.length; at += streamsMax) await this.#load(unknown.slice(at, at + streamsMax))
  }

  /** Without a load, if nothing has to be asked for. */
  known(stream: StreamId, version: number): KnownStream | undefined {
    const known = this.#known.get(stream)
    const isAsked = known !== undefined && (version > known.version || known.entries.has(version))
    return isAsked ? known : undefined
  }

  /** With the entries of those of these versions, in ascending order, that the stream has. */
  async find(stream: StreamId, versions: readonly number[]): Promise<KnownStream> {
    await this.lookUp(new Map([[stream, versions]]))
    for (const [i, version] of versions.entries()) {
      if (this.known(stream, version) === undefined) await this.#load([[stream, versions.slice(i)]])
    }
    const known = this.#known.get(stream)
    if (known === undefined) throw new Error(`the read models say nothing of stream ${stream}`)
    return known
  }

  async #load(wanted: readonly Wanted[]): Promise<void> {
    const positions = this.#proved > 0 ? [{ partition: this.#partition, offset: this.#proved - 1 }] : []
    const queries = wanted.map(([stream, versions]) => ({ stream, versions: this.#rangeOf(stream, versions) }))
    const loaded = await this.#readModel.loadAll(queries, { positions, wait: { timeoutMs: waitMs } })
    const checkpoint = loaded[0]?.reached.find((each) => each.has(this.#partition))?.get(this.#partition)
    if (!this.#isProved) this.#proved = Math.max(this.#proved, checkpoint?.next ?? 0)
    this.#isProved = true
    for (const [i, { row, parked, entries }] of loaded.entries()) {
      const stream = queries[i]?.stream ?? ''
      const first = { version: row?.version ?? 0, row, parked: parked?.first, entries: new Map() }
      const known = this.#known.get(stream) ?? first
      for (const [version, entry] of entries) if (version <= known.version) known.entries.set(version, entry)
      this.#known.set(stream, known)
    }
  }

  /** From the first of these versions to the last one, or as many as one load gives. */
  #rangeOf(stream: StreamId, versions: readonly number[]): VersionRange | undefined {
    const [first] = versions
    if (first === undefined) return undefined
    const end = this.#known.get(stream)?.version ?? Number.MAX_SAFE_INTEGER
    return { first, last: Math.min(versions.at(-1) ?? first, first + versionsMax - 1, end) }
  }
}
