import type { EventLog } from '../log/event-log.ts'
import { lostEnd } from '../log/lost-end.ts'
import type { LookedLane, LookedPartition, PublishedLog, PublisherName } from '../log/published-log.ts'
import { isSameRecord } from '../log/record-identity.ts'
import type { TextSet } from '../read-models/document.ts'

type ReadLog = Pick<EventLog, 'read' | 'endOffsets'>

interface DescribedPartition extends Omit<LookedPartition, 'last'> {
  /** Records of the log that it has not passed yet. */
  readonly lag: number
}

interface DescribedLane extends Pick<LookedLane, 'lane' | 'owner' | 'failure'> {
  readonly partitions: readonly DescribedPartition[]
}

export interface DescribedPublisher {
  readonly publisher: PublisherName
  /** What consumers read. */
  readonly topics: readonly string[]
  readonly missing: readonly string[]
  readonly failure: string | undefined
  readonly lanes: readonly DescribedLane[]
  /** What is wrong with the topics and does not stop it. */
  readonly warnings: readonly string[]
}

/** How far each publisher is, and why it stands still, as whoever took its lanes over would find it. */
export async function describePublished(
  log: ReadLog,
  publishers: readonly Pick<PublishedLog, 'publisher' | 'inspect'>[],
): Promise<readonly DescribedPublisher[]> {
  const each = publishers.map(async (published): Promise<DescribedPublisher> => {
    const { lanes, warnings, ...look } = await published.inspect()
    const ends = await log.endOffsets() // behind the look, so that no position is beyond them
    const described = await Promise.all(lanes.map((lane) => describedLane(log, ends, lane)))
    return {
      publisher: published.publisher,
      ...look,
      lanes: described,
      warnings: warnings.map(({ message }) => message),
    }
  })
  return await Promise.all(each)
}

/** The set of a copy that says what is removed. */
const removed: TextSet = 'rows'

/** Where the copy of the read models is in a partition; undefined where nothing is to be copied. */
export function fillingOf(
  publisher: PublisherName,
  { filled }: Pick<DescribedPartition, 'filled'>,
): string | undefined {
  if (publisher !== 'documents') return undefined
  if (filled === undefined) return 'not begun'
  const { copying } = filled
  if (copying === undefined) return undefined
  return copying.set === removed ? 'what is removed' : `${copying.set}, up to id ${copying.after}`
}

/** Why nothing is published, by where. */
export function standingStill({ topics, failure, lanes }: DescribedPublisher): readonly string[] {
  const ofPartitions = lanes.flatMap((lane) =>
    lane.partitions.flatMap((each) => (each.failure ? [`partition ${each.partition}: ${each.failure}`] : [])),
  )
  const ofLanes = lanes.flatMap((lane) => (lane.failure ? [`lane ${lane.lane}: ${lane.failure}`] : []))
  return [...(failure ? [`${topics.join(', ')}: ${failure}`] : []), ...ofLanes, ...ofPartitions]
}

/** What an operator should see to. */
export function problemsOf(described: DescribedPublisher): readonly string[] {
  const missing = described.missing.map((topic) => `${topic} is not there: a process that publishes makes it.`)
  return [...missing, ...standingStill(described), ...described.warnings]
}

async function describedLane(
  log: ReadLog,
  ends: readonly number[],
  { lane, owner, failure, partitions }: LookedLane,
): Promise<DescribedLane> {
  const described = partitions.map(async ({ last, ...each }) => {
    const { partition, next } = each
    const lost = each.failure === undefined && last !== null ? await lostEndBefore(log, partition, last) : undefined
    return { ...each, failure: each.failure ?? lost, lag: Math.max(0, (ends[partition] ?? 0) - next) }
  })
  return { lane, owner, failure, partitions: await Promise.all(described) }
}

/** As a turn looks at the last record that was taken. */
async function lostEndBefore(
  log: ReadLog,
  partition: number,
  last: NonNullable<LookedPartition['last']>,
): Promise<string | undefined> {
  const { records } = await log.read(partition, last.offset, 1)
  return isSameRecord(records[0], last) ? undefined : (await lostEnd(log, partition, last.offset)).message
}
