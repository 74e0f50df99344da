import type { Offset } from '../log/event-log.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import type { StreamId, VersionEntry } from '../read-models/stored-texts.ts'

/** A stream as of its first load of a turn, with the entries that were asked for since. */
export interface KnownStream {
  readonly version: number
  /** The offset of its first parked event. */
  readonly parked: Offset | undefined
  readonly entries: Map<number, VersionEntry>
}

/** Versions of one load. */
const rangeMax = 256
const waitMs = 250

/**
 * What the read models say of streams of a partition during one turn. The version of a stream and what is parked of it
 * come from its first load: a later one would know of a discard that the turn has not come to. The turn passes no record
 * that its very first load did not prove: a stream loaded before would not know of a discard that the turn has come to.
 */
export class KnownStreams {
  readonly #readModel: Pick<ReadModel, 'load'>
  readonly #partition: number
  readonly #known = new Map<StreamId, KnownStream>()
  #proved: Offset
  #isProved = false

  /** Each load proves at least what is before `proved`. */
  constructor(readModel: Pick<ReadModel, 'load'>, partition: number, proved: Offset) {
    this.#readModel = readModel
    this.#partition = partition
    this.#proved = proved
  }

  /** How far the read models were with the first load, which this is if there was none: each later one proves that too. */
  async prove(stream: StreamId): Promise<Offset> {
    if (!this.#isProved) await this.#load(stream, [])
    return this.#proved
  }

  /** Without a load, if nothing has to be asked for. */
  known(stream: StreamId, version: number): KnownStream | undefined {
    const known = this.#known.get(stream)
    const isAsked = known !== undefined && (version > known.version || known.entries.has(version))
    return isAsked ? known : undefined
  }

  /** With the entries of those of these versions that the stream has. */
  async find(stream: StreamId, versions: readonly number[]): Promise<KnownStream> {
    const sorted = versions.toSorted((one, other) => one - other)
    let known = this.#known.get(stream) ?? (await this.#load(stream, sorted))
    for (const version of sorted) {
      if (this.known(stream, version) === undefined)
        known = await this.#load(stream, [version, sorted.at(-1) ?? version])
    }
    return known
  }

  /** The entries from the first of these versions to the last one, or to the end of a range. */
  async #load(stream: StreamId, [first, ...others]: readonly number[]): Promise<KnownStream> {
    const before = this.#known.get(stream)
    const last = Math.min(others.at(-1) ?? first ?? 0, (first ?? 0) + rangeMax - 1, before?.version ?? Number.MAX_VALUE)
    const versions = first === undefined ? undefined : { first, last }
    const positions = this.#proved > 0 ? [{ partition: this.#partition, offset: this.#proved - 1 }] : []
    const { row, parked, entries, reached } = await this.#readModel.load(
      { stream, versions },
      { positions, wait: { timeoutMs: waitMs } },
    )
    const checkpoint = reached.find((each) => each.has(this.#partition))?.get(this.#partition)
    if (!this.#isProved) this.#proved = Math.max(this.#proved, checkpoint?.next ?? 0)
    this.#isProved = true
    const known = before ?? { version: row?.version ?? 0, parked: parked?.first, entries: new Map() }
    for (const [version, entry] of entries) if (version <= known.version) known.entries.set(version, entry)
    this.#known.set(stream, known)
    return known
  }
}
