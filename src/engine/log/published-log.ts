import type { Warning } from '../lib/operating/warning.ts'
import type { Offset } from './event-log.ts'

/** What is told: each event that took effect, or the documents after each of them. */
export type PublisherName = 'events' | 'documents'

/** Topics, as they are called behind the name of the journal and a dot. */
export const eventsTarget = 'published'
export function documentsTarget(collection: string): string {
  return `documents.${collection}`
}

/** Settings of the topics of documents that consumers rely on. */
export const documentTopics = {
  /** How long a consumer may be away and still see that a document was removed. */
  tombstonesKeptMs: 7 * 24 * 3_600_000,
  /** Room for a document in UTF-8, and for what is beside it. */
  messageBytesMax: 2 * 1024 * 1024,
}

/** A record for consumers, in the partition of its stream. */
export interface ToldRecord {
  /** Its topic: `eventsTarget`, or `documentsTarget` of a collection. */
  readonly target: string
  readonly key: string
  /** Null where what has this key is removed. */
  readonly value: string | null
  readonly headers: Readonly<Record<string, string>>
}

/** Which documents were told, where documents are. */
export interface Filled {
  /** The versions of the projections that they come from. */
  readonly projections: string
  /** Where the copy of the read models goes on: a set, and the last id of it; undefined once all is copied. */
  readonly copying?: { readonly set: string; readonly after: number } | undefined
}

/** How far a publisher is in one partition of the journal, as its last transaction left it. */
export interface Progress {
  /** The offset of the next record of the journal to take. */
  readonly next: Offset
  /** The last record taken, which reveals a journal that lost its end; null before the first one. */
  readonly last: { readonly offset: Offset; readonly identity: string } | null
  /** How many records were told. */
  readonly told: number
  /** Undefined where events are told, and before the first document is. */
  readonly filled?: Filled | undefined
}

/**
 * The memory of a publisher for one partition: its progress, and by stream that waits its **place**: all that took
 * effect before this offset has been told.
 */
export interface PartitionMemory extends Progress {
  readonly waiting: ReadonlyMap<string, Offset>
}

export const nothingTold: PartitionMemory = { next: 0, last: null, told: 0, waiting: new Map() }

/** What one transaction adds to a partition. */
export interface PartitionTurn {
  readonly partition: number
  /** In this order. */
  readonly records: readonly ToldRecord[]
  readonly progress: Progress
  /** The places that changed; undefined of a stream that waits no more. */
  readonly places: ReadonlyMap<string, Offset | undefined>
}

/** The memory once the turn is committed. */
export function after(memory: PartitionMemory, { progress, places }: PartitionTurn): PartitionMemory {
  const waiting = new Map(memory.waiting)
  for (const [stream, place] of places) {
    if (place === undefined) waiting.delete(stream)
    else waiting.set(stream, place)
  }
  return { ...progress, waiting }
}

/** Nothing can be published there until an operator has seen to it. The message says what was found and what to do. */
export class StandsStill extends Error {
  override readonly name = 'StandsStill'
  readonly code: string = 'publishing_stands_still'
}

/** Kafka refuses it. The message has the ACL that lacks. */
export class RightMissing extends StandsStill {
  override readonly code = 'published_right_missing'
}

/** A lane, held by its only owner. After an error it may only be closed: whoever goes on takes the lane over again. */
export interface OwnedLane {
  /** As it was read back, by partition. */
  readonly memory: ReadonlyMap<number, PartitionMemory>
  /** All of it in one transaction, or nothing. After an error either may be true, and only taking over tells. */
  commit(turns: readonly PartitionTurn[]): Promise<void>
  /** Throws if what was written before is gone. */
  check(): Promise<void>
  /** Nothing leaves this process for the lane after that. */
  close(): void
}

export interface LaneMembership {
  /** Why this process is no member now, as the last attempt had it; undefined while it is. */
  readonly failure: unknown
  /** Resolves with the next heartbeat that the group has answered: this process knows who has its lanes then. */
  heartbeat(): Promise<void>
  close(): Promise<void>
}

/** A partition of the journal, as somebody sees it who has no lane. */
export interface LookedPartition extends Progress {
  readonly partition: number
  /** How many streams wait. */
  readonly waiting: number
  /** Why whoever takes the lane over stands still; undefined where it goes on. */
  readonly failure: string | undefined
}

export interface LookedLane {
  readonly lane: number
  /** The process that has it; null where nobody has it, undefined where Kafka does not tell. */
  readonly owner: string | null | undefined
  /** Why none of its partitions can be told of; undefined where they can. */
  readonly failure: string | undefined
  readonly partitions: readonly LookedPartition[]
}

/** What is published, as somebody sees it who changes nothing. */
export interface PublishedLook {
  /** What consumers read. */
  readonly topics: readonly string[]
  /** Topics that the next process to publish makes. */
  readonly missing: readonly string[]
  /** Why there are no lanes to be told of; undefined where there are, and where topics are missing. */
  readonly failure: string | undefined
  readonly lanes: readonly LookedLane[]
  readonly warnings: readonly Warning[]
}

/** The topics of one publisher. Each lane has one owner at a time, and what it writes is whole or not there. */
export interface PublishedLog {
  readonly publisher: PublisherName
  /** What is wrong with the topics and does not stop it, as of the last look. */
  readonly warnings: readonly Warning[]
  /** Makes what is missing; resolves to the number of lanes. Throws StandsStill, or why it cannot tell. */
  prepare(): Promise<number>
  /** `assigned` is told the lanes of this process from now on, in place of those before. */
  join(lanes: number, assigned: (lanes: readonly number[]) => void): LaneMembership
  /** Takes a lane: whoever had it cannot write any more. Throws StandsStill, or why it cannot be taken now. */
  takeOver(lane: number, lanes: number): Promise<OwnedLane>
  /** Looks as `takeOver` does, makes nothing, and takes nothing from anybody. Throws OutOfReachError. */
  inspect(): Promise<PublishedLook>
  close(): void
}
