import { type Checkpoint, encodeCheckpoint, startOfPartition } from '../../src/read-models/checkpoint.ts'
import { type DocumentId, type StoredDocument, setName } from '../../src/read-models/document.ts'
import type { Generation, StoredGeneration, StoredVersion } from '../../src/read-models/generations.ts'
import type { IdempotencyKey, IdempotencyRecord } from '../../src/read-models/idempotency-record.ts'
import type { Size } from '../../src/read-models/inspection.ts'
import type { ParkedEvent } from '../../src/read-models/parked-event.ts'
import type { ApplyResult, Batch, DocumentPut } from '../../src/read-models/projection-store.ts'
import { decodeRow, homeIdOf, type StreamRow } from '../../src/read-models/stream-row.ts'

/** What stores share that are opened on the same data: the versions by name. */
export class MemoryData {
  readonly versions = new Map<string, VersionData>()

  version(name: string): VersionData {
    const version = this.versions.get(name) ?? new VersionData()
    this.versions.set(name, version)
    return version
  }

  renewed(): StoredVersion[] {
    return [...this.versions].flatMap(([version, { renewed }]) => (renewed === undefined ? [] : { version, renewed }))
  }
}

export class VersionData {
  renewed: number | undefined
  readonly generations = new Map<string, GenerationData>()

  inState(state: 'active' | 'building'): GenerationData | undefined {
    return [...this.generations.values()].find((generation) => generation.state === state)
  }

  /** The active one first. */
  stored(): StoredGeneration[] {
    const shown = ({ name, logId, state, since }: StoredGeneration) => ({ name, logId, state, since })
    const isActive = ({ state }: StoredGeneration) => Number(state === 'active')
    return [...this.generations.values()].map(shown).sort((a, b) => isActive(b) - isActive(a))
  }
}

export class GenerationData {
  readonly name: string
  readonly logId: string
  state: StoredGeneration['state']
  since = Date.now()
  /** When `apply` last began to answer 'later'. */
  paused = 0
  continues: string | undefined
  readonly checkpoints = new Map<number, Checkpoint>()
  /** Entries by set and id. */
  readonly documents = new Map<string, Map<number, StoredDocument>>()
  readonly rows = new Map<string, string>()
  /** Records by `<partition>/<key>`. */
  readonly keys = new Map<string, IdempotencyRecord>()
  /** Events by `<partition>/<offset>`. */
  readonly parked = new Map<string, ParkedEvent>()
  readonly #recorded = new Map<string, number>()

  constructor({ name, logId }: Generation, state: StoredGeneration['state']) {
    this.name = name
    this.logId = logId
    this.state = state
  }

  become(state: StoredGeneration['state']): void {
    this.state = state
    this.since = Date.now()
  }

  checkpoint(partition: number): Checkpoint {
    return this.checkpoints.get(partition) ?? startOfPartition
  }

  row(home: string, stream: string): StreamRow | undefined {
    const shown = this.documents.get(home)?.get(homeIdOf(stream) ?? 0)
    if (shown?.row !== undefined) return decodeRow(stream, { json: shown.json, version: shown.version }, shown.row)
    const row = this.rows.get(stream)
    return row === undefined ? undefined : decodeRow(stream, undefined, row)
  }

  key({ partition, key }: IdempotencyKey): IdempotencyRecord | undefined {
    return this.keys.get(`${partition}/${key}`)
  }

  /** In order of offset. */
  queue(stream: string): ParkedEvent[] {
    return [...this.parked.values()].filter((event) => event.stream === stream).sort((a, b) => a.offset - b.offset)
  }

  sizes(): Map<string, Size> {
    const size = ([set, recorded]: [string, number]): [string, Size] => [set, { actual: this.#set(set).size, recorded }]
    return new Map([...this.#recorded].map(size))
  }

  isComplete(...sets: readonly string[]): boolean {
    return sets.every((set) => this.#set(set).size === (this.#recorded.get(set) ?? 0))
  }

  /** Takes one entry out of a set, which the recorded size does not notice. */
  damage(set: string, entry: number | string): void {
    this.#set(set).delete(entry)
  }

  apply(home: string, batch: Batch): ApplyResult {
    if (encodeCheckpoint(this.checkpoint(batch.partition)) !== encodeCheckpoint(batch.expected)) {
      return { outcome: 'checkpoint_mismatch' }
    }
    const isThere = (stream: string) => this.row(home, stream) !== undefined || this.queue(stream).length > 0
    const streams = batch.newStreams.filter(isThere)
    const isTaken = ({ collection, id }: DocumentId) => this.documents.get(collection)?.has(id)
    const documents = batch.documents.flatMap(({ before, after }) => (!before && isTaken(after) ? [after] : []))
    if (streams.length + documents.length > 0) {
      return { outcome: 'exist', streams, documents: documents.map(({ collection, id }) => ({ collection, id })) }
    }
    this.#apply(batch)
    return { outcome: 'applied' }
  }

  #apply({ partition, checkpoint, documents, rows, rowsShown, keys, parked, unparked }: Batch): void {
    for (const put of documents) this.#putDocument(put)
    for (const { stream, row } of rows) this.#put('rows', this.rows, stream, row)
    for (const stream of rowsShown) this.#remove('rows', this.rows, stream)
    for (const record of keys) this.#put('keys', this.keys, `${partition}/${record.key}`, record)
    for (const { offset } of unparked) this.#remove('parked', this.parked, `${partition}/${offset}`)
    for (const event of parked) this.#put('parked', this.parked, `${partition}/${event.offset}`, event)
    this.checkpoints.set(partition, checkpoint)
  }

  #putDocument({ before, after }: DocumentPut): void {
    for (const set of setsOf(before)) this.#set(set).delete(after.id)
    for (const set of setsOf(after)) (this.#set(set) as Map<number, StoredDocument>).set(after.id, after)
    for (const set of setsOf(before)) this.#resize(set, -1)
    for (const set of setsOf(after)) this.#resize(set, 1)
  }

  #put<Key, Value>(set: string, entries: Map<Key, Value>, key: Key, value: Value): void {
    if (!entries.has(key)) this.#resize(set, 1)
    entries.set(key, value)
  }

  #remove<Key>(set: string, entries: Map<Key, unknown>, key: Key): void {
    entries.delete(key)
    this.#resize(set, -1)
  }

  #resize(set: string, added: number): void {
    this.#recorded.set(set, (this.#recorded.get(set) ?? 0) + added)
  }

  #set(name: string): Map<string | number, unknown> {
    const others: Record<string, Map<string, unknown>> = { rows: this.rows, keys: this.keys, parked: this.parked }
    const set = others[name] ?? this.documents.get(name) ?? new Map<number, StoredDocument>()
    if (others[name] === undefined) this.documents.set(name, set as Map<number, StoredDocument>)
    return set as Map<string | number, unknown>
  }
}

function setsOf(document: StoredDocument | undefined): string[] {
  if (document === undefined) return []
  return [undefined, ...document.indexes].map((index) => setName(document.collection, index))
}
