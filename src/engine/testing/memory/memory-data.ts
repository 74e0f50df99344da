import { timeOfDay } from '../../lib/clock.ts'
import { isCount } from '../../read-models/damaged.ts'
import {
  beginningOf,
  entryId,
  type IndexKey,
  type StoredDocument,
  setName,
  type TextSet,
  textSets,
} from '../../read-models/document.ts'
import type { Generation, StoredGeneration, StoredVersion } from '../../read-models/ports/generations.ts'
import type { Size } from '../../read-models/ports/inspection.ts'
import type { ApplyResult, Batch } from '../../read-models/ports/projection.ts'
import { checkText } from '../../read-models/proven-document.ts'
import { type FoundRow, foundRow } from '../../read-models/row-place.ts'
import {
  type Checkpoint,
  decodeCheckpoint,
  encodeCheckpoint,
  startOfPartition,
} from '../../read-models/stored-texts.ts'
import type { StreamNames } from '../../read-models/stream-names.ts'

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
  since = timeOfDay().getTime()
  /** When `apply` last began to answer 'later'. */
  paused = 0
  continues: string | undefined
  readonly checkpointTexts = new Map<number, string>()
  readonly #names: StreamNames
  readonly #sets = new Map<string, Map<string | number, unknown>>()
  readonly recorded = new Map([['keys', 0]])

  constructor({ name, logId }: Generation, state: StoredGeneration['state'], names: StreamNames) {
    this.name = name
    this.logId = logId
    this.state = state
    this.#names = names
  }

  become(state: StoredGeneration['state']): void {
    this.state = state
    this.since = timeOfDay().getTime()
  }

  checkpoint(partition: number): Checkpoint {
    const text = this.checkpointTexts.get(partition)
    return text === undefined ? startOfPartition : decodeCheckpoint(text, partition)
  }

  /** Throws DamagedError. */
  get checkpoints(): Map<number, Checkpoint> {
    return new Map([...this.checkpointTexts].map(([partition, text]) => [partition, decodeCheckpoint(text, partition)]))
  }

  set<Value>(name: string): Map<string | number, Value> {
    const set = this.#sets.get(name) ?? new Map<string | number, unknown>()
    this.#sets.set(name, set)
    return set as Map<string | number, Value>
  }

  /** Those of a collection by id, or of one of its indexes by `entryOf`. */
  documents(set: string): Map<string | number, StoredDocument> {
    return this.set(set)
  }

  text(set: TextSet, id: string): string | undefined {
    return this.set<string>(set).get(id)
  }

  row(stream: string): FoundRow {
    const document = this.#names.documentOf(stream)
    const shown = document && this.documents(document.collection).get(document.id)
    if (shown !== undefined) checkText(shown, shown.json)
    return foundRow(shown, () => this.text('rows', stream))
  }

  sizes(): Map<string, Size> {
    return new Map(
      [...this.recorded].map(([name, recorded]) => [
        name,
        { actual: this.set(name).size, recorded: isCount(recorded) ? recorded : Number.NaN },
      ]),
    )
  }

  isComplete(...sets: readonly string[]): boolean {
    return sets.every((name) => this.set(name).size === (this.recorded.get(name) ?? 0))
  }

  apply(batch: Batch): ApplyResult {
    if (encodeCheckpoint(this.checkpoint(batch.partition)) !== encodeCheckpoint(batch.expected)) {
      return { outcome: 'checkpoint_mismatch' }
    }
    const changed = batch.documents.flatMap(({ before, after }) =>
      [...entriesOf(before), ...entriesOf(after)].map(([set]) => set),
    )
    if (!this.isComplete(...this.#names.collections, ...textSets, ...changed)) return { outcome: 'incomplete' }
    const isThere = (stream: string) => {
      const { json, row } = this.row(stream)
      return (json ?? row ?? this.text('parked', stream)) !== undefined
    }
    const streams = batch.newStreams.filter(isThere)
    const documents = batch.documents.flatMap(({ before, after }) => {
      if (before !== undefined || after === undefined || !this.documents(after.collection).has(after.id)) return []
      return [{ collection: after.collection, id: after.id }]
    })
    if (streams.length + documents.length > 0) return { outcome: 'exist', streams, documents }
    this.#apply(batch)
    return { outcome: 'applied' }
  }

  #apply({ partition, checkpoint, documents, texts }: Batch): void {
    for (const { before, after } of documents) {
      for (const [set, entry] of entriesOf(before)) this.#remove(set, entry)
      for (const [set, entry] of entriesOf(after)) this.#put(set, entry, after)
    }
    for (const set of textSets) {
      for (const id of texts[set].removed) this.#remove(set, id)
      for (const [id, text] of texts[set].put) this.#put(set, id, text)
    }
    this.checkpointTexts.set(partition, encodeCheckpoint(checkpoint))
  }

  #put(name: string, entry: string | number, value: unknown): void {
    const set = this.set(name)
    if (!set.has(entry)) this.#resize(name, 1)
    set.set(entry, value)
  }

  #remove(name: string, entry: string | number): void {
    this.set(name).delete(entry)
    this.#resize(name, -1)
  }

  #resize(name: string, added: number): void {
    this.recorded.set(name, (this.recorded.get(name) ?? 0) + added)
  }
}

/** The sets that have a document, and what names it there. */
function entriesOf(document: StoredDocument | undefined): [set: string, entry: string | number][] {
  if (document === undefined) return []
  const { collection, id, indexKeys } = document
  return [
    [collection, id],
    ...indexKeys.map((key): [string, string | number] => [setName(collection, key), entryOf(key, id)]),
  ]
}

/** What names a document among those that have an index key. */
export function entryOf(key: IndexKey, id: number): string | number {
  const beginning = beginningOf(key)
  return beginning === undefined ? id : entryId(beginning, id)
}
