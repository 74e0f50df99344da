import type { Offset } from '../../event-log.ts'
import { StandsStill } from '../../published-log.ts'
import type { KafkaReader } from '../kafka-reader.ts'
import { nothingStored, type StoredMemory } from './positions.ts'
import { publishingTopics } from './publishing-topics.ts'
import { findTargets, stateOf, type Target } from './targets.ts'

export interface CheckedBy {
  /** The topic of the journal. */
  readonly topic: string
  readonly logId: string
  readonly reader: KafkaReader
}

const endsLimitMs = 8000
const targetsAtOnce = 8

/**
 * Checks what is remembered of each partition of a lane; resolves to what `of` makes of each, beginning with the lowest.
 * What is remembered must have been read before.
 */
export async function checkEach<T>(
  by: CheckedBy,
  { lane, lanes }: { readonly lane: number; readonly lanes: number },
  of: (partition: number, check: (stored: StoredMemory | undefined) => Promise<StoredMemory>) => Promise<T>,
): Promise<readonly T[]> {
  const { published } = publishingTopics(by.topic)
  const targets = (await findTargets(by.reader, published)).filter(({ partition }) => partition % lanes === lane)
  const ends = await by.reader.offsets(by.topic, 'next', endsLimitMs)
  const checked: T[] = []
  for (let at = 0; at < targets.length; at += targetsAtOnce) {
    const several = targets.slice(at, at + targetsAtOnce).map((target) => {
      const { [target.partition]: end = 0 } = ends
      return of(target.partition, (stored) => checkedMemory(by, target, stored, end))
    })
    checked.push(...(await Promise.all(several)))
  }
  return checked
}

/** What to go on from: from the beginning where the partition that is told was made anew. Throws StandsStill. */
async function checkedMemory(
  { topic, logId, reader }: CheckedBy,
  target: Target,
  stored: StoredMemory | undefined,
  end: Offset,
): Promise<StoredMemory> {
  if (stored !== undefined && stored.logId !== logId) throw ofAnotherLog(topic)
  const state = await stateOf(reader, target, stored && (stored.ends[target.topic] ?? 0))
  // What waited before is forgotten with the first transaction: it would be told twice.
  if (stored === undefined || state === 'new')
    return { ...nothingStored(logId), stale: [...(stored?.waiting.keys() ?? [])] }
  if (stored.next > end) throw beyondLog(topic, target.partition, stored.next, end)
  return stored
}

function ofAnotherLog(topic: string): StandsStill {
  const { published, positions } = publishingTopics(topic)
  return new StandsStill(
    `Topic ${positions} is of another event log than ${topic}. Delete ${published} and ${positions}: both come back.`,
  )
}

function beyondLog(topic: string, partition: number, next: Offset, end: Offset): StandsStill {
  return new StandsStill(
    `Partition ${partition} of topic ${topic} ends at offset ${end}, and was published up to ${next}: it has lost its end. ` +
      `What consumers saw cannot be unsaid. Decide what they keep, and delete ${publishingTopics(topic).published}: it comes back as the log is now.`,
  )
}
