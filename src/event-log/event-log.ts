import type { Warning } from '../lib/warning.ts'

/** Where a record stands in its partition: 0 or more, below 2^53. */
export type Offset = number

/** Where a record stands in the log. */
export interface Position {
  readonly partition: number
  readonly offset: Offset
}

export interface NewRecord {
  readonly key: string
  readonly value: string
  readonly headers: Readonly<Record<string, string>>
}

/** A record as it was found: another producer may have written anything, or nothing, into key and value. */
export interface LogRecord {
  readonly offset: Offset
  readonly key: Buffer | null
  readonly value: Buffer | null
}

/** What a subscription reads next from one partition, in log order. */
export interface RecordBatch {
  readonly partition: number
  /** The offset that was read from: every record between it and `next` is in `records`. */
  readonly from: Offset
  /** May be empty: a log can hold offsets that carry no record, such as Kafka's transaction markers. */
  readonly records: readonly LogRecord[]
  /** The offset to read on from once this batch is done. */
  readonly next: Offset
  /**
   * Under which leaders of the partition the first and the last of the records were appended: the higher, the later.
   * Undefined on SQLite, which has none, and where there are no records. A record that follows another one under the same
   * leader stands behind just that one; under a later leader, what was before it may have been lost and written anew.
   */
  readonly leaderEpochs?: { readonly first: number; readonly last: number } | undefined
}

/** `next`: the offset to read on from. */
export type ReadRecords = Pick<RecordBatch, 'records' | 'next'>

/** Records that are in the log and cannot be read, from `offset` on. */
export interface UndecodableBatch extends Position {
  readonly reason: string
}

export interface Subscriber {
  /**
   * The partitions held from now on, in place of those before; none while the log is out of reach. Nothing is read until
   * the subscriber seeks. Not called before `subscribe` has resolved.
   */
  assigned(partitions: readonly number[]): void
  /**
   * Batches of one partition come one at a time. Resolves to whether the batch is done: the next one starts at its
   * `next`, or, when it is not, the same records may come again. Must not reject.
   */
  batch(batch: RecordBatch): Promise<boolean>
}

export interface Subscription {
  /**
   * Reads on from `offset`; takes effect before the next batch, and is ignored for a partition no longer held. From an
   * offset past the end, reading starts at the first record instead, or not at all while there is none: compare `endOffsets`.
   */
  seek(partition: number, offset: Offset): void
  /** Resolves once no batch is being handled and none will come. */
  close(): Promise<void>
}

/**
 * The event log: an append-only sequence of records in each of a fixed number of partitions, kept for ever.
 * It is the only truth; everything else can be made again from it.
 *
 * Not promised: any order between partitions, or of two appends in flight at once.
 */
export interface EventLog {
  /** Drawn when the log was created: another id is another log, whatever its name. */
  readonly logId: string
  readonly partitions: number
  /**
   * Resolves once another log is found in the place of this one, on Kafka within seconds: from then on append,
   * reserveIdBlock and endOffsets throw event_log_unavailable, and nothing that was not sent yet reaches the other log. Only
   * opening it anew helps. Never resolves on SQLite, whose file is not watched: the process that serves it locks it.
   */
  readonly replaced: Promise<void>
  /**
   * What the subscriptions of this object came to and cannot decode, one batch a partition at most. They go on with other
   * partitions, and try it again every few seconds; it is listed until that works. Always empty on SQLite.
   */
  readonly undecodable: readonly UndecodableBatch[]
  /** What stands against how the log is kept, as of a look at most a minute ago. Always empty on SQLite. */
  readonly warnings: readonly Warning[]
  /** The partition of a record key by Kafka's default partitioner, so that any producer finds the same one. */
  partitionFor(key: string): number
  /**
   * Appends 1..1000 records to one partition, all or none, in array order; resolves to the first one's offset once
   * they are durable. The caller has at most one append in flight.
   * Throws ServiceError event_log_unavailable: surely not appended, now or later; append_outcome_unknown: the records
   * may be in the log or appear in it. Settles within the adapter's append time limit.
   */
  append(partition: number, records: readonly NewRecord[]): Promise<Offset>
  /**
   * Reserves a block of ids: a number that no other reservation on this log gets or got, 1 or more, usually rising, with gaps.
   * Throws ServiceError event_log_unavailable, within two seconds.
   */
  reserveIdBlock(): Promise<number>
  /**
   * For each partition the offset that the next record gets: what was acknowledged before the call is below it.
   * Throws ServiceError event_log_unavailable, within two seconds.
   */
  endOffsets(): Promise<readonly Offset[]>
  /**
   * Reads records of one partition: up to `limit` (1..1000) of those from `from` on, in log order; none where `from` is the
   * end or beyond it, and maybe none before that, in front of offsets that carry no record: `next` is then above `from`.
   * Throws ServiceError event_log_unavailable, within two seconds, also where they cannot be decoded.
   */
  read(partition: number, from: Offset, limit: number): Promise<ReadRecords>
  /** Subscribes as one of a group that shares the partitions out. `group` names it. */
  subscribe(group: string, subscriber: Subscriber): Promise<Subscription>
  /** Ends every subscription, then releases what the log holds. */
  close(): Promise<void>
}

/** An event as it took effect in its stream. */
export interface Recorded<Event> {
  readonly event: Event
  /** The version that the stream has after it. */
  readonly version: number
  /** RFC 3339, as the event has it: '' where it has none. */
  readonly time: string
}
