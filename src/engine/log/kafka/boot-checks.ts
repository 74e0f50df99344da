import type { Admin } from 'kafkajs'
import type { Warning } from '../../lib/warning.ts'
import { type FirstRecord, FirstRecords } from './first-records.ts'
import type { FoundTopics } from './kafka-topics.ts'
import { type LogIdentity, notedEvents, readIdentity, writeIdentity } from './log-identity.ts'
import type { LogPartOptions } from './log-part-options.ts'
import { copyInstead, incompleteness, orNewLog, otherPartitions } from './topic-faults.ts'

/** A log at the start, and how to read from it. */
export type LogToCheck = Pick<LogPartOptions, 'topic' | 'partitions' | 'idBlocks' | 'reader'>

/** What the start knows about events. */
export interface EventsAtStart {
  /** Whether there were any. */
  readonly found: boolean
  /** Whether that is noted in the log, for later starts. */
  readonly noted: boolean
  readonly firstRecords: readonly FirstRecord[]
}

/** Why the log may not be used as it is: waiting would not help. The message says what to do. */
export class BootRefusal extends Error {
  override readonly name = 'BootRefusal'
}

const readLimitMs = 3000

/** The topics that a start has to create. Refuses to have an empty one take the place of one with events. */
export async function missingTopics(admin: Admin, log: LogToCheck): Promise<readonly string[]> {
  const { reader, topic, idBlocks } = log
  const existing = await admin.listTopics()
  const missing = [topic, idBlocks].filter((each) => !existing.includes(each))
  const isWithoutEvents = missing.length === 1 && missing[0] === topic
  if (isWithoutEvents && (await notedEvents(reader, idBlocks)).held !== false)
    throw eventsGone(`There is no topic ${topic}`, log)
  return missing
}

/** Called while there is no topic of id blocks: a start would create an empty one, and refuse it. */
export async function refuseWithoutIdBlocks(log: LogToCheck): Promise<void> {
  if (await hasEvents(log)) throw idBlocksGone(`There is no topic ${log.idBlocks}`, log)
}

/**
 * Refuses a log that may not be used as it is, and changes nothing. Its identity is undefined if it may be given one:
 * both topics are empty.
 */
export async function checkLog(
  log: LogToCheck,
  found: FoundTopics,
): Promise<{ readonly identity: LogIdentity | undefined; readonly events: EventsAtStart }> {
  refuse(incompleteness(found))
  checkIdBlocks(log, found.idBlocks.partitions)
  const identity = await checkIdentity(log, found.events.partitions)
  return { identity, events: await checkEvents(log) }
}

/** Gives a log that has none its identity. It is read back and never assumed: another process may have been first. */
export async function createIdentity(
  log: LogToCheck & Pick<LogPartOptions, 'idBlocksProducer'>,
  found: FoundTopics,
): Promise<LogIdentity> {
  await writeIdentity(log.idBlocksProducer, log.partitions)
  return await existingIdentity(log, found.events.partitions)
}

/** Refuses a log that may have held events but holds none, or others. */
async function checkEvents(log: LogToCheck): Promise<EventsAtStart> {
  const { topic, reader, idBlocks } = log
  const { held, firstRecords } = await notedEvents(reader, idBlocks)
  // After that: another process notes the first events of a new log once they are there.
  const found = await hasEvents(log)
  if (held !== false && !found) throw eventsGone(`Topic ${topic} is empty`, log)
  const isAnother = await new FirstRecords(reader, topic, firstRecords).areGone(performance.now() + readLimitMs)
  if (isAnother) throw eventsGone(`Topic ${topic} was made anew`, log)
  return { found, noted: held === true, firstRecords }
}

async function hasEvents({ reader, topic }: LogToCheck): Promise<boolean> {
  const ends = await reader.offsets(topic, 'next', readLimitMs)
  return ends.some((end) => end > 0)
}

function eventsGone(found: string, { topic, idBlocks }: LogToCheck): BootRefusal {
  return new BootRefusal(
    `${found}, but ${idBlocks} belongs to a log with events: the events are gone. Restore ${topic} from a backup. To begin ` +
      `a new log, delete ${idBlocks} as well, ${orNewLog}`,
  )
}

function idBlocksGone(found: string, { topic, idBlocks }: LogToCheck): BootRefusal {
  return new BootRefusal(
    `${found}, but ${topic} holds events: ids would be given out twice. Restore ${idBlocks} from a backup, ${orNewLog}`,
  )
}

/** Reports all problems at once, so that following one piece of advice does not lead to the next refusal. */
function refuse(faults: readonly Warning[]): void {
  if (faults.length > 0) throw new BootRefusal(faults.map(({ message }) => message).join('\n'))
}

async function checkIdentity(log: LogToCheck, partitionsFound: number): Promise<LogIdentity | undefined> {
  const { reader, idBlocks } = log
  // Events are read first: a process writes the identity before it appends any, so a log that is just being created is
  // not refused.
  const isUsed = await hasEvents(log)
  const [blocks] = await reader.offsets(idBlocks, 'next', readLimitMs)
  if (blocks !== 0) return await existingIdentity(log, partitionsFound)
  if (isUsed) throw idBlocksGone(`Topic ${idBlocks} is empty`, log)
  checkPartitions(log, partitionsFound, partitionsFound)
  return undefined
}

async function existingIdentity(log: LogToCheck, partitionsFound: number): Promise<LogIdentity> {
  const { reader, idBlocks } = log
  const identity = await readIdentity(reader, idBlocks)
  if (identity === undefined) {
    throw new BootRefusal(
      `The first record of topic ${idBlocks} is not the identity of a log: something else wrote to it. Restore it from ` +
        `a backup, ${orNewLog}`,
    )
  }
  checkPartitions(log, partitionsFound, identity.partitions)
  return identity
}

function checkIdBlocks({ idBlocks }: LogToCheck, found: number): void {
  if (found === 1) return
  throw new BootRefusal(
    `Topic ${idBlocks} has ${found} partitions instead of 1, so ids could be given twice. ${copyInstead(1)}`,
  )
}

/** Only the number that the log was created with is ever advised. */
function checkPartitions({ topic, partitions }: LogToCheck, found: number, madeWith: number): void {
  if (found !== madeWith) {
    throw new BootRefusal(`${otherPartitions(topic, found, madeWith)} ${copyInstead(madeWith)}`)
  }
  if (found === partitions) return
  throw new BootRefusal(
    `Topic ${topic} has ${found} partitions, but KAFKA_PARTITIONS is ${partitions}. Set KAFKA_PARTITIONS=${found}, ` +
      orNewLog,
  )
}
