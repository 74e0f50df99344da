import type { Position } from '../log/event-log.ts'
import type { DamagedError } from './damaged.ts'
import type { DocumentId, TextSet } from './document.ts'
import type { Checkpoints } from './ports/generations.ts'
import type { Item } from './ports/inspection.ts'
import type {
  CountQuery,
  Found,
  IdRange,
  LoadedStream,
  PageQuery,
  StoredCounts,
  StoredPage,
  StreamQuery,
} from './ports/reads.ts'
import type { StreamId } from './stored-texts.ts'

/** How long to wait; the end of a wait may be noticed some milliseconds late. */
export interface Wait {
  /** Milliseconds; 0 or less means no wait. */
  readonly timeoutMs: number
  /** Whether nobody needs the answer any more, which ends the wait early. */
  readonly isAbandoned?: (() => boolean) | undefined
  /** Whether the log told this process of a record at the position: progress is then believed up to there. */
  readonly isRecorded?: boolean
}

/** What an answer must include: everything up to these records, with a limit on the wait for it. */
export interface AtLeast {
  readonly positions: readonly Position[]
  readonly wait: Wait
}

/**
 * The outcome of a record, as announced: it took effect; it did not (parked, superseded, duplicate); it was handled but
 * its announcement was missed, so only its stream can tell; or it was not reached in time.
 */
export type Applied = 'applied' | 'without_effect' | 'unheard' | 'late'

/** The checkpoints at which an answer was read: those of one generation, or of one per shard. */
export type Reached = readonly Checkpoints[]

export type FoundStream = LoadedStream & { readonly reached: Reached }
/** A stream by its name, or by a document that shows it. */
export type LocatedStreamQuery = StreamQuery & ({ readonly stream: StreamId } | { readonly document: DocumentId })

export type FoundDocument = Pick<Found, 'document'> & { readonly reached: Reached }
export interface TextPage {
  readonly items: readonly Item[]
  readonly reached: Reached
}
export type Page = Pick<StoredPage, 'documents' | 'count' | 'last'> & { readonly reached: Reached }
export type Counts = Pick<StoredCounts, 'counts'> & { readonly reached: Reached }

/**
 * What requests read: documents and streams, none of them missing or older than this process has seen before.
 * Reads throw ServiceError read_model_rebuilding or read_model_unavailable rather than omit anything, read_model_behind
 * if `atLeast` is not reached in time, and invalid_consistency_token if it is beyond the end of the log. Without
 * `atLeast` a read settles within 1.5 seconds. `owner` is that of the API key: reads that wait for others go round the
 * owners.
 */
export interface ReadModel {
  find(document: DocumentId, atLeast?: AtLeast, owner?: string): Promise<FoundDocument>
  page(query: PageQuery, atLeast?: AtLeast, owner?: string): Promise<Page>
  count(query: CountQuery, atLeast?: AtLeast, owner?: string): Promise<Counts>
  load(query: StreamQuery, atLeast?: AtLeast, owner?: string): Promise<FoundStream>
  /** As `load`, those of a shard at one moment: 1 to some hundred streams. */
  loadAll(queries: readonly LocatedStreamQuery[], atLeast?: AtLeast): Promise<readonly FoundStream[]>
  /**
   * All texts of a set, page by page: whichever are there from the first page to the last, each at least once. Throws
   * read_model_rebuilding also where the generation is replaced meanwhile.
   */
  texts(set: TextSet, atLeast?: AtLeast): AsyncGenerator<TextPage, void>
  /** Whether anything is stored under one of the ids (`HeldIds`), in any shard. */
  holdsAny(range: IdRange, atLeast?: AtLeast): Promise<boolean>
  /** Never rejects. Resolves to 'late' at once while progress cannot be followed. */
  whenApplied(position: Position, wait: Wait): Promise<Applied>
  /** The generation that answers about a partition; undefined while there is none. */
  generationOf(partition: number): string | undefined
  /** To be called where something that was read of a stream of the partition turns out to be damaged. */
  reportDamage(partition: number, error: DamagedError): void
}
