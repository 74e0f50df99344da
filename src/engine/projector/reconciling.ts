import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Look } from '../read-models/ports/generations.ts'
import type { ReadModelStore } from '../read-models/ports/store.ts'
import type { ShardLog } from '../read-models/shards.ts'
import { type Checkpoint, startOfPartition } from '../read-models/stored-texts.ts'
import { agrees, type Belief } from './belief.ts'

/** What a look asks of a projector. */
export type Verdict =
  /** The generation `instead` (undefined: none) cannot be continued. */
  | { readonly instead: string | undefined; readonly reason: string }
  /** Each partition of which the projector believes something else, with what is stored of it. */
  | { readonly generation: string; readonly differing: ReadonlyMap<number, Checkpoint> }

/** Compares what is stored with what is believed of the assigned partitions, and with the log where they differ. */
export async function verdictOn(
  { active, checkpoints, isComplete }: Look,
  log: Pick<ShardLog, 'logId' | 'endOffsets'>,
  assigned: readonly number[],
  beliefs: ReadonlyMap<number, Belief>,
): Promise<Verdict> {
  if (active === undefined) return { instead: undefined, reason: 'there is none' }
  const { name, logId } = active
  if (logId !== log.logId) return { instead: name, reason: 'it belongs to another log' }
  if (!isComplete) return { generation: name, differing: new Map() } // it is replaced, though not at once each time
  if (checkpoints === undefined) return { instead: name, reason: 'its checkpoints are gone' }
  const stored = assigned.map((partition) => [partition, checkpoints.get(partition) ?? startOfPartition] as const)
  const differing = stored.filter(([partition, checkpoint]) => !agrees(beliefs.get(partition), name, checkpoint))
  if (differing.length === 0) return { generation: name, differing: new Map() }
  const ends = await log.endOffsets()
  const ofNone = [...checkpoints].filter(([partition]) => partition >= ends.length) // nobody is assigned these
  const [past] = [...differing, ...ofNone].find(([partition, { next }]) => next > (ends[partition] ?? 0)) ?? []
  if (past === undefined) return { generation: name, differing: new Map(differing) }
  return { instead: name, reason: `partition ${past} of the log ends before its position` }
}

export interface ReplacementOptions {
  readonly log: Pick<ShardLog, 'logId' | 'confirm'>
  readonly store: Pick<ReadModelStore, 'generations'>
  readonly logger: Logger
}

/**
 * Has an empty generation take the place of one that cannot be continued, or of none. If several projectors do so at the
 * same time, the first one wins and the others find it.
 */
export async function replaceGeneration(
  { log, store, logger }: ReplacementOptions,
  instead: string | undefined,
  reason: string,
): Promise<void> {
  if (instead !== undefined) await log.confirm() // the last copy of what a lost log held is not replaced (decision 0027)
  const generation = { name: randomUUID(), logId: log.logId }
  if (!(await store.generations.start(generation, instead))) return
  const place = { generation: generation.name, instead, reason }
  if (instead === undefined) logger.info(place, 'building read models for the first time')
  else logger.warn(place, 'building read models anew')
}
