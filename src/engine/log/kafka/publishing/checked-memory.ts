import type { Offset } from '../../event-log.ts'
import { StandsStill } from '../../published-log.ts'
import type { KafkaReader } from '../kafka-reader.ts'
import { nothingStored, type StoredMemory } from './positions.ts'
import { type PublisherOf, positionsOf, toldTopics } from './publishing-topics.ts'
import { findTargets, stateOf, type Target } from './targets.ts'

export interface CheckedBy extends PublisherOf {
  readonly logId: string
  readonly reader: KafkaReader
}

const endsLimitMs = 8000
const partitionsAtOnce = 8

/**
 * Checks what is remembered of each partition of a lane; resolves to what `of` makes of each, beginning with the lowest.
 * What is remembered must have been read before.
 */
export async function checkEach<T>(
  by: CheckedBy,
  { lane, lanes }: { readonly lane: number; readonly lanes: number },
  of: (partition: number, check: (stored: StoredMemory | undefined) => Promise<StoredMemory>) => Promise<T>,
): Promise<readonly T[]> {
  const found = await Promise.all(toldTopics(by).map((topic) => findTargets(by.reader, topic)))
  const targets = [...Map.groupBy(found.flat(), ({ partition }) => partition)].filter(([each]) => each % lanes === lane)
  const ends = await by.reader.offsets(by.topic, 'next', endsLimitMs)
  const checked: T[] = []
  for (let at = 0; at < targets.length; at += partitionsAtOnce) {
    const several = targets.slice(at, at + partitionsAtOnce).map(([partition, those]) => {
      const { [partition]: end = 0 } = ends
      return of(partition, (stored) => checkedMemory(by, those, stored, end))
    })
    checked.push(...(await Promise.all(several)))
  }
  return checked
}

/** What to go on from: from the beginning where what is told has to be told anew. Throws StandsStill. */
async function checkedMemory(
  by: CheckedBy,
  targets: readonly Target[],
  stored: StoredMemory | undefined,
  end: Offset,
): Promise<StoredMemory> {
  if (stored !== undefined && stored.logId !== by.logId) throw ofAnotherLog(by)
  const goOn = await Promise.all(targets.map((target) => goesOn(by, target, stored)))
  // What waited before is forgotten with the first transaction: it would be told twice.
  if (stored === undefined || goOn.includes(false))
    return { ...nothingStored(by.logId), stale: [...(stored?.waiting.keys() ?? [])] }
  const [{ partition }] = targets as [Target]
  if (stored.next > end) throw beyondLog(by, partition, stored.next, end)
  return stored
}

/**
 * Whether what was told is there. Documents are copied again where it is not, also beside what stands there from before; of
 * events each is told once. Throws StandsStill.
 */
async function goesOn(
  { publisher, reader }: CheckedBy,
  target: Target,
  stored: StoredMemory | undefined,
): Promise<boolean> {
  const { topic, partition } = target
  const end = stored?.ends[topic]
  if (publisher === 'documents' && stored !== undefined && end === undefined) return true
  const state = await stateOf(reader, target, stored && (end ?? 0))
  if (state === 'as_left') return true
  if (state === 'new' || publisher === 'documents') return false
  throw new StandsStill(
    state === 'unknown'
      ? `Topic ${topic} holds records in partition ${partition}, and there is no position for them: another program writes ` +
          'here, or the topic of the positions was deleted. Delete this one too, or bring back that of the positions.'
      : `Partition ${partition} of topic ${topic} has lost its end: its publisher left it at another offset, and the record ` +
          'before that is gone. Delete the topic: it comes back from the first event of the log on.',
  )
}

function ofAnotherLog(by: CheckedBy): StandsStill {
  const positions = positionsOf(by.topic)
  return new StandsStill(
    `Topic ${positions} is of another event log than ${by.topic}. Delete ${[...toldTopics(by), positions].join(', ')}: they come back.`,
  )
}

function beyondLog(by: CheckedBy, partition: number, next: Offset, end: Offset): StandsStill {
  return new StandsStill(
    `Partition ${partition} of topic ${by.topic} ends at offset ${end}, and was published up to ${next}: it has lost its end. ` +
      `What consumers saw cannot be unsaid. Decide what they keep, and delete ${toldTopics(by).join(', ')}: it comes back as the log is now.`,
  )
}
