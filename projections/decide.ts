import type { LogRecord, Offset } from '../src/event-log/event-log.ts'
import type { KeyDecision } from '../src/read-models/key-decision.ts'
import type { Batch, Insert, ParkedEvent, PartitionState } from '../src/read-models/read-models.ts'
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
}

export interface Decision {
  readonly batch: Batch
  /** The partition's state once the batch is applied. */
  readonly state: PartitionState
}

/**
 * Decides, in log order, what becomes of each record: the table of design section 4. Pure.
 * Ids and keys of this stretch that are not in `known` are free.
 */
export function decide(stretch: Stretch, state: PartitionState, known: Known): Decision {
  const inserts = new Map<number, Insert>()
  const parked: ParkedEvent[] = []
  const decisions = new Map<string, KeyDecision>()
  const parkedSubjects = new Set(state.parkedSubjects)
  let { applied, dropped, skipped } = state.checkpoint

  function park(offset: Offset, subject: string, reason: string, value: string): void {
    parked.push({ offset, subject, reason, value })
    parkedSubjects.add(subject)
  }

  function isDuplicate(claim: KeyDecision | undefined): boolean {
    return claim !== undefined && (known.decidedKeys.has(claim.key) || decisions.has(claim.key))
  }

  for (const content of stretch.contents) {
    if (content.kind === 'foreign') {
      skipped++
      continue
    }
    if (isDuplicate(content.claim)) {
      dropped++
      continue
    }
    if (content.claim !== undefined) decisions.set(content.claim.key, content.claim)
    if (content.kind === 'unreadable') {
      park(content.offset, content.subject, content.reason, content.value)
    } else {
      const { offset, subject, tag, change, record } = content
      const existing = inserts.get(change.id)?.tag ?? known.tags.get(change.id)
      if (existing === tag) dropped++
      else if (parkedSubjects.has(subject)) {
        park(offset, subject, 'an earlier event of this subject is parked', recordText(record))
      } else if (existing !== undefined) {
        park(offset, subject, `id ${change.id} exists under another event id`, recordText(record))
      } else {
        inserts.set(change.id, { ...change, tag })
        applied++
      }
    }
  }

  const { partition, lastRecord, next } = stretch
  const last = lastRecord ? { offset: lastRecord.offset, identity: recordIdentity(lastRecord) } : state.checkpoint.last
  const checkpoint = { next, last, applied, dropped, skipped, parked: state.checkpoint.parked + parked.length }
  return {
    batch: {
      partition,
      expected: state.checkpoint,
      checkpoint,
      inserts: [...inserts.values()],
      parked,
      decisions: [...decisions.values()],
    },
    state: { checkpoint, parkedSubjects },
  }
}
