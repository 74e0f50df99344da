import type { Warning } from '../lib/operating/warning.ts'

/** The place of a record in its partition: 0 or more, below 2^53. */
export type Offset = number

/** The place of a record in the log. */
export interface Position {
  readonly partition: number
  readonly offset: Offset
}

export interface NewRecord {
  readonly key: string
  readonly value: string
  readonly headers: Readonly<Record<string, string>>
}

/** A record as found: another producer may have written anything, or nothing, as key and value. */
export interface LogRecord {
  readonly offset: Offset
  readonly key: Buffer | null
  /** One that is longer than any event (`recordValueMax`) may be cut behind that. */
  readonly value: Buffer | null
}

/** The next records that a subscription reads from one partition, in log order. */
export interface RecordBatch {
  readonly partition: number
  /** The offset that was requested: every record between it and `next` is in `records`. */
  readonly from: Offset
  /** May be empty: a log can hold offsets that carry no record, such as Kafka's transaction markers. */
  readonly records: readonly LogRecord[]
  /** The offset to continue from once this batch is done. */
  readonly next: Offset
  /**
   * The leader epochs of the partition under which the first and the last of the records were appended; higher means
   * later. Undefined on SQLite, which has no leaders, and if there are no records. Under the same leader, the record
   * before another one is never replaced. Under a later leader, earlier records may have been lost and written again.
   */
  readonly leaderEpochs?: { readonly first: number; readonly last: number } | undefined
}

/** The most records that one `read` gives. */
export const readMax = 2500

/** `next`: the offset to read on from. */
export type ReadRecords = Pick<RecordBatch, 'records' | 'next'>

/** Records that are in the log and cannot be read, from `offset` on. */
export interface UndecodableBatch extends Position {
  readonly reason: string
}

export interface Subscriber {
  /**
   * The partitions assigned from now on, replacing those before; none while the log is unreachable. Nothing is read
   * until the subscriber seeks. Not called before `subscribe` has resolved.
   */
  assigned(partitions: readonly number[]): void
  /**
   * Batches of one partition come one at a time. Resolves to whether the batch is done. If it is, the next batch starts
   * at its `next`; otherwise the same records may come again. Must not reject.
   */
  batch(batch: RecordBatch): Promise<boolean>
}

export interface Subscription {
  /**
   * Continues from `offset`. Takes effect before the next batch, and is ignored for a partition that is no longer
   * assigned. From an offset past the end, reading starts at the first record instead, or not at all while there is
   * none: compare with `endOffsets`.
   */
  seek(partition: number, offset: Offset): void
  /** Resolves once no batch is being handled and none will come. */
  close(): Promise<void>
}

/**
 * The event log: an append-only sequence of records in each of a fixed number of partitions, kept forever. It is the
 * only source of truth; everything else can be derived from it.
 *
 * Not promised: any order between partitions, or of two appends in flight at once.
 */
export interface EventLog {
  /** Drawn when the log was created: a different id is a different log, whatever its name. */
  readonly logId: string
  readonly partitions: number
  /**
   * Resolves once another log has replaced this one, on Kafka within seconds. From then on append, reserveIdBlock and
   * endOffsets throw event_log_unavailable, and nothing that was not yet sent reaches the other log. Only reopening
   * helps. Never resolves on SQLite, whose file is not watched: the process that serves it holds a lock on it.
   */
  readonly replaced: Promise<void>
  /**
   * Batches that cannot be decoded, at most one per partition. Other partitions continue. On Kafka, those that the
   * subscriptions of this object met; on SQLite, where the log was found to be damaged. They are tried again every few
   * seconds, and listed until that works.
   */
  readonly undecodable: readonly UndecodableBatch[]
  /** Problems with the settings of the log, as of a check at most a minute ago. Always empty on SQLite. */
  readonly warnings: readonly Warning[]
  /** The partition of a record key by Kafka's default partitioner, so that any producer finds the same one. */
  partitionFor(key: string): number
  /**
   * Appends 1..1000 records to one partition, all or none, in array order; resolves to the first one's offset once they
   * are durable. The caller has at most one append in flight.
   * Throws ServiceError event_log_unavailable: surely not appended, now or later; append_outcome_unknown: the records
   * may be in the log, or appear there. Settles within the adapter's time limit for appends.
   */
  append(partition: number, records: readonly NewRecord[]): Promise<Offset>
  /**
   * Reserves a block of ids: a number of 1 or more that no other reservation on this log ever gets, usually rising, with
   * gaps. Throws ServiceError event_log_unavailable, within two seconds.
   */
  reserveIdBlock(): Promise<number>
  /**
   * The offset that the next record of each partition will get: everything acknowledged before the call is below it.
   * Throws ServiceError event_log_unavailable, within two seconds.
   */
  endOffsets(): Promise<readonly Offset[]>
  /**
   * Reads records of one partition: up to `limit` (1..`readMax`) of those from `from` on, in log order; none where `from` is the
   * end or beyond it, and maybe none before that, in front of offsets that carry no record: `next` is then above `from`.
   * Throws ServiceError event_log_unavailable, within two seconds, also where they cannot be decoded: what is in front of
   * that is given first.
   */
  read(partition: number, from: Offset, limit: number): Promise<ReadRecords>
  /**
   * Resolves if this is still the log that was opened. Throws ServiceError event_log_unavailable if another one has
   * replaced it, on SQLite if it is known to be damaged, and if that cannot be determined within two seconds.
   */
  confirm(): Promise<void>
  /**
   * The name of the process that has each partition in a group; none for a partition that nobody has. On Kafka a process
   * that died still has its partitions for six seconds. Throws ServiceError event_log_unavailable, within two seconds.
   */
  ownersIn(group: string): Promise<ReadonlyMap<number, string>>
  /** Subscribes as a member of the group named `group`, whose members share the partitions. */
  subscribe(group: string, subscriber: Subscriber): Promise<Subscription>
  /** Ends every subscription, then releases the resources of the log. */
  close(): Promise<void>
}
