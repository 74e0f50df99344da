import type { Offset, RecordBatch } from '../log/event-log.ts'
import { isSameRecord } from '../log/record-identity.ts'
import { type Checkpoint, encodeCheckpoint } from '../read-models/stored-texts.ts'

/** What a projector believes about a partition that it projects. */
export interface Belief {
  readonly generation: string
  checkpoint: Checkpoint
  /** The next offset that the subscription reads. */
  from: Offset
  /** The leader epoch of the last record applied; undefined until one was. */
  leaderEpoch: number | undefined
  /** A batch is being applied: the store's comparison detects a wrong belief by itself. */
  isApplying: boolean
  /** A batch has come since the latest look began, so that look may show an older checkpoint. */
  isAheadOfLook: boolean
}

/** Begins at the last record applied, not after it, to see whether it is still the same. */
export function beliefIn(generation: string, checkpoint: Checkpoint): Belief {
  const from = checkpoint.last?.offset ?? checkpoint.next
  return { generation, checkpoint, from, leaderEpoch: undefined, isApplying: false, isAheadOfLook: false }
}

/** Whether a look that found this checkpoint leaves the belief as it is. */
export function agrees(belief: Belief | undefined, generation: string, stored: Checkpoint): boolean {
  if (belief?.generation !== generation) return false
  return belief.isAheadOfLook || encodeCheckpoint(belief.checkpoint) === encodeCheckpoint(stored)
}

/** Whether the last record applied may have been lost and replaced since it was read. */
export function isInDoubt({ checkpoint: { last }, leaderEpoch }: Belief, { from, leaderEpochs }: RecordBatch): boolean {
  if (last === null || from <= last.offset || leaderEpoch === undefined || leaderEpochs === undefined) return false
  return leaderEpochs.first !== leaderEpoch
}

/** The offset of the last record applied, if the batch begins there with another record. */
export function replacedRecord({ checkpoint: { last } }: Belief, { from, records }: RecordBatch): Offset | undefined {
  return last === null || from > last.offset || isSameRecord(records[0], last) ? undefined : last.offset
}
