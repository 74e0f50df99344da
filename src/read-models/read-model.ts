import type { Position } from '../event-log/event-log.ts'
import type { DocumentId } from './document.ts'
import type { Checkpoints } from './generations.ts'
import type { Found, LoadedStream, PageQuery, StoredPage, StreamQuery } from './stored-reads.ts'

/** How long to wait; the end of a wait may be noticed some milliseconds late. */
export interface Wait {
  /** Milliseconds; 0 or less: not at all. */
  readonly timeoutMs: number
  /** Whether nobody wants the answer any more, which ends the wait early. */
  readonly isAbandoned?: (() => boolean) | undefined
}

/** What an answer must have in it: everything up to these records, waited for as long as this. */
export interface AtLeast {
  readonly positions: readonly Position[]
  readonly wait: Wait
}

/**
 * What became of a record: it took effect; it did not (parked, superseded, a duplicate); the read model is beyond it, but
 * its announcement was missed, so that only its stream tells; or it was not reached in time.
 */
export type Applied = 'applied' | 'without_effect' | 'unheard' | 'late'

/** The checkpoints that an answer was read at: of one generation, or of one for each shard. */
export type Reached = readonly Checkpoints[]

export type FoundDocument = Pick<Found, 'document'> & { readonly reached: Reached }
export type Page = Pick<StoredPage, 'documents' | 'count' | 'last'> & { readonly reached: Reached }

/**
 * What requests read: documents and streams, none of them missing or older than this process has seen before.
 * Reads throw ServiceError read_model_rebuilding or read_model_unavailable rather than leave anything out,
 * read_model_behind where `atLeast` is not reached in time, and invalid_consistency_token where it is beyond the end of
 * the log. Without `atLeast` a read settles within 1.5 seconds.
 */
export interface ReadModel {
  find(document: DocumentId, atLeast?: AtLeast): Promise<FoundDocument>
  page(query: PageQuery, atLeast?: AtLeast): Promise<Page>
  load(query: StreamQuery, atLeast?: AtLeast): Promise<LoadedStream>
  /** Never rejects. 'late' at once while the source of progress is known to be down. */
  whenApplied(position: Position, wait: Wait): Promise<Applied>
}
