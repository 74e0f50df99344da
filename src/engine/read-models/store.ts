import type { Warning } from '../lib/warning.ts'
import type { Offset } from '../log/event-log.ts'
import type { DocumentId, StoredDocument, TextSet } from './document.ts'
import type {
  Checkpoint,
  IdempotencyKey,
  IdempotencyRecord,
  ParkedStream,
  StreamId,
  StreamRow,
  VersionEntry,
} from './stored-texts.ts'
import type { VersionRange } from './stream-history.ts'

/**
 * A store of one version of the read models: four small ports on the same data. It is derived from the log: if deleted,
 * the read models come back identical. After `close` listeners are disconnected and no new one is called, and every
 * other call throws ServiceError read_model_unavailable.
 *
 * What is stored may be damaged: a key of another type, a text that cannot be read, a number out of range. In a
 * generation it counts as missing: whoever reads it throws DamagedError, except `look`, which tells it, and
 * `activate`. Outside of generations (which one is active or being built, which ones are kept, the list of versions) it
 * counts as absent, and the next write replaces it. No method waits or repeats because of it.
 */
export interface ReadModelStore {
  readonly reads: StoredReads
  readonly projection: ProjectionStore
  readonly generations: Generations
  readonly inspection: Inspection
  /** Problems with how the data are stored, as of the last connect. Always empty on SQLite. */
  readonly warnings: readonly Warning[]
  /** May be called more than once. */
  close(): Promise<void>
}

/**
 * A complete set of read models: documents, indexes, rows, idempotency records, parked events, their recorded sizes and
 * the checkpoints. Each version has exactly one active generation, and at most one more that is being built (decision
 * 0006). Names are random and never reused.
 */
export interface Generation {
  readonly name: string
  /** The log that it is built from. */
  readonly logId: string
}

export interface ActiveGeneration extends Generation {
  /**
   * The generation that it replaced without being behind it anywhere, and that may be removed by now; undefined if
   * there was none.
   */
  readonly continues: string | undefined
}

export interface StoredGeneration extends Generation {
  /** `replaced`: was active once, and is kept for reads that began with it. */
  readonly state: 'active' | 'building' | 'replaced'
  /**
   * Since when; for a generation being built, when `build` was last called for it. Milliseconds since 1970, by the
   * store's clock.
   */
  readonly since: number
}

export interface StoredVersion {
  readonly version: string
  /** When it was last in use: milliseconds since 1970, by the store's clock. */
  readonly renewed: number
}

/** Checkpoints by partition. Partitions with nothing stored are absent. */
export type Checkpoints = ReadonlyMap<number, Checkpoint>

/** A store at one moment: all that those who follow it ask again and again. */
export interface Look {
  readonly active: ActiveGeneration | undefined
  /** Those of the active generation; undefined if there is none, or if it has lost them, or one cannot be read. */
  readonly checkpoints: Checkpoints | undefined
  /**
   * False if a set of the active generation does not have its recorded size, or something that a look reads of it is
   * damaged. Sets are not counted on SQLite.
   */
  readonly isComplete: boolean
  /** What is damaged, if something is. */
  readonly damage?: string | undefined
  readonly building: (Generation & { readonly checkpoints: Checkpoints }) | undefined
}

export interface Progress {
  readonly partition: number
  /** The records from `from` up to `next` were handled in this step. */
  readonly from: Offset
  readonly next: Offset
  /** The offsets of those records that did not take effect. */
  readonly withoutEffect: readonly Offset[]
}

export interface ProgressListener {
  /** The active `generation` was applied further; or, without progress, it has just become active. */
  progress(generation: string, progress?: Progress): void
  /** Progress is announced from now on; earlier progress may have been missed. Also called on subscribing. */
  connected(): void
  /** Progress may be missed from now on. */
  disconnected(): void
}

/**
 * The life of generations and versions (decision 0006). A version of the read models consists of the versions of
 * their projections; each has generations of its own, which no other version touches.
 * Every method throws ServiceError read_model_unavailable if the store does not answer in time.
 */
export interface Generations {
  /** All of it read in one atomic step. */
  look(): Promise<Look>
  active(): Promise<ActiveGeneration | undefined>
  /** Undefined if the generation does not exist. */
  checkpoints(generation: string): Promise<Checkpoints | undefined>
  /**
   * Calls the listener from now on, each time in a microtask of its own. Returns a function that ends that. Whether it
   * hears of other stores on the same data depends on the adapter.
   */
  listen(listener: ProgressListener): () => void
  /**
   * Makes `generation` the active one, empty, if `instead` (undefined: none) is still active. Resolves to whether it
   * did.
   */
  start(generation: Generation, instead: string | undefined): Promise<boolean>
  /** The generations of this version, beginning with the active one, if any. */
  all(): Promise<readonly StoredGeneration[]>
  /**
   * Begins to build `generation`, empty, beside the active one; or continues with the one of the same log that is
   * already being built. Resolves to the one being built. A generation of another log that was being built is removed.
   */
  build(generation: Generation): Promise<Generation>
  /**
   * Makes the generation being built the active one, in one atomic step, and tells every listener. If it refuses, it
   * changes nothing in any generation. `not_building`: it is not being built, or the active one belongs to another log,
   * so that positions cannot be compared. `behind`: a partition of the active generation is further. `apply` to the
   * active generation then answers `later` for one second, at most every 5 s by the store's clock, so that the new one can
   * catch up under any load. `incomplete`: a set of the generation does not have its recorded size, or it is damaged.
   * Checkpoints of the active one that are damaged are not compared: the new one then does not continue it.
   */
  activate(name: string): Promise<'activated' | 'behind' | 'incomplete' | 'not_building'>
  /** Removes a generation that is not active, with all its data. Resolves to whether it did. */
  remove(name: string): Promise<boolean>
  /** Marks this version as in use now, also where the clock of the store was set back since it last was. */
  renew(): Promise<void>
  /** Every version that was renewed, and not removed since. */
  versions(): Promise<readonly StoredVersion[]>
  /**
   * Removes a version with all its data. It does nothing if that is this version, if the version was renewed since it
   * was listed, or if it has an active generation, or one being built, of a log other than `logId`. Resolves to whether
   * it removed the version.
   */
  removeVersion(listed: StoredVersion, logId: string): Promise<boolean>
  /**
   * Removes the generations of this version that are not active and whose `since` is at least `graceMs` ago. Resolves
   * to their names. A `since` beyond the present, from before the clock of the store was set back, becomes the present.
   */
  prune(graceMs: number): Promise<readonly string[]>
}

/** The state of the store, read in one atomic step with an answer. */
export interface Snapshot {
  /** The name of the active generation. */
  readonly active: string | undefined
  /** The checkpoints of the generation that was read. */
  readonly checkpoints: Checkpoints
}

export interface Contents<SetSize = Size> {
  readonly snapshot: Snapshot
  /**
   * Sizes by `setName`, and by `textSets`: every set that has, or should have, entries, and possibly others. Empty only
   * if they are lost, or were recorded by a release with another layout.
   */
  readonly sizes: ReadonlyMap<string, SetSize>
}

export interface Size {
  /** The actual size; -1 of what is no set. */
  readonly actual: number
  /** NaN if it is damaged. */
  readonly recorded: number
}

/**
 * An entry of a set, as it is stored: in a collection the id of a document in decimal, and its JSON and what is behind
 * it, separated by NUL; in an index the JSON alone; in a set of texts, id and text.
 */
export type Item = readonly [id: string, text: string]

export interface ScannedPage {
  readonly snapshot: Snapshot
  readonly items: readonly Item[]
  /** Where to continue; undefined at the end. */
  readonly next: string | undefined
}

export interface FoundItems {
  readonly snapshot: Snapshot
  /** For each id, the text stored under it. */
  readonly texts: readonly (string | undefined)[]
}

/** A page of anything but documents ends soon after its texts reach this many characters. */
export const scannedCharactersMax = 1_000_000

/**
 * For operators and for `verify`: each answer reflects one moment. Answers undefined if the generation does not exist.
 * Throws ServiceError read_model_unavailable if the store does not answer in time.
 */
export interface Inspection {
  /** On SQLite it counts every entry. */
  contents(generation: string): Promise<Contents | undefined>
  /** The recorded sizes of `contents`: counts nothing, so it costs the same however much is stored. */
  recorded(generation: string): Promise<Contents<number> | undefined>
  /**
   * About `limit` entries of a set, starting at the `next` of another page. An entry that exists all the time occurs at
   * least once. Documents occur once and in ascending order of id, `limit` of them if there are as many.
   */
  scan(generation: string, set: string, from: string | undefined, limit: number): Promise<ScannedPage | undefined>
  find(generation: string, set: string, ids: readonly string[]): Promise<FoundItems | undefined>
}

/**
 * Proves that an answer omits nothing (decision 0007). Its checkpoints are empty if the generation does not exist, and
 * may be the same object in answers read at the same moment.
 */
export interface Proof extends Snapshot {
  /**
   * Whether every set that was read has its recorded size; for a load, possibly every set that loads read. Always so in
   * a store that loses nothing by itself. And whether nothing was missing that a document or the row of a stream
   * implies.
   */
  readonly isComplete: boolean
}

export interface Found {
  readonly proof: Proof
  /** Undefined if the document does not exist. */
  readonly document: FoundDocument | undefined
}

export interface FoundDocument {
  readonly json: string
  /** The stream that shows it. */
  readonly stream: StreamId
}

/** The first `limit` (1 or more) documents with ids above `after`, in ascending order of id; those of `ids` alone, if given. */
export interface PageQuery {
  readonly collection: string
  /** All documents, or those of one index. */
  readonly index?: string | undefined
  readonly after: number
  readonly limit: number
  /** In ascending order, each once, all above `after`, and `limit` at most. */
  readonly ids?: readonly number[] | undefined
}

export interface StoredPage {
  readonly proof: Proof
  /** The JSON texts, separated by commas, ready to send. */
  readonly documents: string
  readonly count: number
  /** The id of the last one, if there are more. */
  readonly last: number | undefined
}

/** What a command needs to know, and whoever asks what became of an event. */
export interface StreamQuery {
  readonly stream?: StreamId | undefined
  /** Without `stream` it is the stream of this document that is requested. */
  readonly document?: DocumentId | undefined
  readonly key?: IdempotencyKey | undefined
  /** The versions of `stream` whose entries are requested: some hundred at most. */
  readonly versions?: VersionRange | undefined
}

/** Parts that were not requested are undefined or empty. */
export interface LoadedStream {
  /** Undefined if no event of the stream has taken effect or was discarded yet. */
  readonly row: StreamRow | undefined
  /** The requested document. */
  readonly document: FoundDocument | undefined
  /** Undefined if no event of the stream is parked. */
  readonly parked: ParkedStream | undefined
  /** The record of the key; undefined while the key is undecided. */
  readonly decided: IdempotencyRecord | undefined
  /** Those requested ones that the stream has, by version. */
  readonly entries: ReadonlyMap<number, VersionEntry>
}

export interface StoredStream extends LoadedStream {
  readonly proof: Proof
}

/** Ids, the first and the last one included: some thousand at most. */
export interface IdRange {
  readonly collections: readonly string[]
  readonly first: number
  readonly last: number
}

export interface HeldIds {
  readonly proof: Proof
  /**
   * Whether a document of one of the collections has one of the ids, or a stream that is named by one of them in decimal
   * has a row or parked events.
   */
  readonly holdsAny: boolean
}

/**
 * What requests read from one generation. A generation that does not exist is empty and complete. Each read settles
 * within one second, and throws ServiceError read_model_unavailable if the store does not answer. Where reads wait for
 * others, they go round the owners of API keys whose they are; the service itself counts as one.
 */
export interface StoredReads {
  find(generation: string, document: DocumentId, owner?: string): Promise<Found>
  page(generation: string, query: PageQuery, owner?: string): Promise<StoredPage>
  load(generation: string, query: StreamQuery, owner?: string): Promise<StoredStream>
  heldIds(generation: string, range: IdRange): Promise<HeldIds>
}

/** What a projector asks about a partition: some streams, idempotency keys, and chunks of waiting events. */
export interface LoadRequest {
  readonly partition: number
  readonly streams: readonly StreamId[]
  readonly keys: readonly string[]
  /** Ids in the set `waiting`. */
  readonly waiting: readonly string[]
}

/** All of it read in one atomic step: what exists of what was requested. */
export interface PartitionState {
  readonly checkpoint: Checkpoint
  readonly rows: ReadonlyMap<StreamId, StreamRow>
  /** False if a row is missing that a document implies. */
  readonly isComplete: boolean
  /** The requested streams that have parked events. */
  readonly parked: ReadonlyMap<StreamId, ParkedStream>
  /** The requested keys that are decided in this partition. */
  readonly decidedKeys: ReadonlySet<string>
  /** The requested chunks, by id: offsets in ascending order. */
  readonly waiting: ReadonlyMap<string, readonly Offset[]>
}

/** A document as it was and as it will be, for every set that contains it. One of the two is there. */
export interface DocumentChange {
  /** As loaded; undefined for a new document: the store then refuses the batch if the document exists. */
  readonly before: StoredDocument | undefined
  /** Undefined if it is removed. */
  readonly after: StoredDocument | undefined
}

/** Changes of a set of texts. No id occurs twice. */
export interface TextChanges {
  /** Each takes the place of the text that is stored under its id, if there is one. */
  readonly put: readonly (readonly [id: string, text: string])[]
  /** The ids of texts that are stored. */
  readonly removed: readonly string[]
}

/** The effects of consecutive records of one partition. */
export interface Batch {
  readonly partition: number
  /** The projector's belief about the checkpoint of the partition. */
  readonly expected: Checkpoint
  readonly checkpoint: Checkpoint
  /** Streams assumed to be new and without parked events: the store refuses the batch if that is wrong. */
  readonly newStreams: readonly StreamId[]
  /** At most one per document. */
  readonly documents: readonly DocumentChange[]
  readonly texts: Readonly<Record<TextSet, TextChanges>>
  /** Offsets of records in this batch that did not take effect, announced to waiters. */
  readonly withoutEffect: readonly Offset[]
}

export type ApplyResult =
  | { readonly outcome: 'applied' }
  /** The stored checkpoint is not the expected one: another projector moved it, or the store was restored. */
  | { readonly outcome: 'checkpoint_mismatch' }
  /**
   * The generation is neither active nor being built: the store was emptied, or the generation was replaced or removed.
   */
  | { readonly outcome: 'generation_gone' }
  /** Another generation is about to become active: ask again in some milliseconds. */
  | { readonly outcome: 'later' }
  /**
   * A set that the batch relies on or changes does not have its recorded size, so the batch cannot be judged correctly.
   */
  | { readonly outcome: 'incomplete' }
  /** All streams and documents that were assumed to be new but exist, or have parked events; in any order. */
  | { readonly outcome: 'exist'; readonly streams: readonly StreamId[]; readonly documents: readonly DocumentId[] }

/** Where a projector writes. Throws ServiceError read_model_unavailable if the store does not answer in time. */
export interface ProjectionStore {
  /** Undefined if the generation does not exist. */
  load(generation: string, request: LoadRequest): Promise<PartitionState | undefined>
  /**
   * Applies a batch and moves its checkpoint in one atomic step, and tells every listener if the generation is active;
   * or changes nothing and says why. `checkpoint_mismatch` takes precedence over `incomplete`, and that over `exist`.
   * After an error the batch may have been applied, or may be applied later: read the checkpoint again. Recorded sizes
   * change by what the batch says, so a set that has lost entries is noticed. SQLite is never `incomplete`, since its
   * file holds what was written to it.
   */
  apply(generation: string, batch: Batch): Promise<ApplyResult>
}
