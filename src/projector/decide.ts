import type { LogRecord, Offset } from '../event-log/event-log.ts'
import type { KeyDecision } from '../read-models/key-decision.ts'
import type { Batch, Insert, PartitionState } from '../read-models/read-models.ts'
import { Tally } from './counting.ts'
import { type ParkedContent, Parking } from './parking.ts'
import { type RecordContent, recordIdentity, recordText } from './read-record.ts'

/** Consecutive records of one partition, read. */
export interface Stretch {
  readonly partition: number
  readonly contents: readonly RecordContent[]
  /** Undefined for a stretch without records: only the position moves. */
  readonly lastRecord: LogRecord | undefined
  readonly next: Offset
}

/** What the records before a stretch have left behind that its own records may meet. */
export interface Known {
  /** The tags of documents that exist, by id. */
  readonly tags: ReadonlyMap<number, string>
  /** The idempotency keys that are decided. */
  readonly decidedKeys: ReadonlySet<string>
  /** Of each subject that a record of the stretch discards from: everything parked, in order of offset. */
  readonly parked: ReadonlyMap<string, readonly ParkedContent[]>
}

export interface Decision {
  readonly batch: Batch
  /** The partition's state once the batch is applied. */
  readonly state: PartitionState
}

type ReadableContent = Extract<RecordContent, { kind: 'change' }>

/**
 * Decides, in log order, what becomes of each record: the table of design section 4. Pure.
 * Ids and keys of this stretch that are not in `known` are free. `counters` are the prefixes of those that are kept.
 */
export function decide(stretch: Stretch, state: PartitionState, known: Known, counters: readonly string[]): Decision {
  const tally = new Tally(counters)
  const inserts = new Map<number, Insert>()
  const decisions = new Map<string, KeyDecision>()
  const parking = new Parking(state.parkedSubjects, known.parked)
  let { applied, dropped, skipped } = state.checkpoint

  function isDuplicate(claim: KeyDecision | undefined): boolean {
    return claim !== undefined && (known.decidedKeys.has(claim.key) || decisions.has(claim.key))
  }

  function existingTag(id: number): string | undefined {
    return inserts.get(id)?.tag ?? known.tags.get(id)
  }

  function apply({ insert, counted }: ReadableContent): void {
    inserts.set(insert.id, insert)
    tally.add(counted)
    applied++
  }

  function takeUp(content: ReadableContent): void {
    const { offset, subject, insert, record } = content
    // First of all, as the tags of documents are known only once the store has refused to insert them: what becomes of a
    // record must not depend on how the log is split into batches.
    if (parking.has(subject)) {
      parking.park(
        { offset, subject, reason: 'an earlier event of this subject is parked', value: recordText(record) },
        content,
      )
      return
    }
    const existing = existingTag(insert.id)
    if (existing === undefined) apply(content)
    else if (existing === insert.tag) dropped++
    else parking.park({ offset, subject, reason: takenReason(insert.id), value: recordText(record) }, content)
  }

  /** With one event out of the way, those behind it take their turn, up to the first that cannot be applied either. */
  function discard(subject: string, target: Offset): void {
    dropped++
    if (!parking.remove(subject, target)) return
    dropped++
    for (let head = parking.first(subject); head?.content.kind === 'change'; head = parking.first(subject)) {
      const { insert } = head.content
      const existing = existingTag(insert.id)
      if (existing !== undefined && existing !== insert.tag) {
        parking.park({ ...head.event, reason: takenReason(insert.id) }, head.content)
        return
      }
      parking.remove(subject, head.event.offset)
      if (existing === undefined) apply(head.content)
      else dropped++
    }
  }

  for (const content of stretch.contents) {
    if (content.kind === 'foreign') skipped++
    else if (content.kind === 'discard') discard(content.subject, content.target)
    else if (isDuplicate(content.claim)) dropped++
    else {
      if (content.claim !== undefined) decisions.set(content.claim.key, content.claim)
      if (content.kind === 'change') takeUp(content)
      else parking.park(content, content)
    }
  }

  const { partition, lastRecord, next } = stretch
  const last = lastRecord ? { offset: lastRecord.offset, identity: recordIdentity(lastRecord) } : state.checkpoint.last
  const parked = state.checkpoint.parked + parking.added
  const checkpoint = { next, last, applied, dropped, parked, skipped }
  return {
    batch: {
      partition,
      expected: state.checkpoint,
      checkpoint,
      inserts: [...inserts.values()],
      counters: tally.counters,
      ...parking.changes,
      decisions: [...decisions.values()],
    },
    state: { checkpoint, parkedSubjects: parking.subjects },
  }
}

function takenReason(id: number): string {
  return `id ${id} exists under another event id`
}
