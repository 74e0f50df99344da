import type { Admin } from 'kafkajs'
import type { Warning } from '../../lib/operating/warning.ts'
import { type FirstRecord, FirstRecords } from './first-records.ts'
import type { FoundTopics } from './kafka-topics.ts'
import { type LogIdentity, readIdentity, writeIdentity } from './log-identity.ts'
import type { LogPartOptions } from './log-part-options.ts'
import { foreignMax, type NotedEvents, notedEvents } from './noted-events.ts'
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
  /** How many records of something else are at the end of the id blocks. */
  readonly foreign: number
}

/** Why the log may not be used as it is: waiting would not help. The message says what to do. */
export class BootRefusal extends Error {
  override readonly name = 'BootRefusal'
}

const readLimitMs = 3000

/** The topics that a start has to create. Refuses to have an empty one take the place of one with events. */
export async function missingTopics(admin: Admin, log: LogToCheck): Promise<readonly string[]> {
  const { topic, idBlocks } = log
  const existing = await admin.listTopics()
  const missing = [topic, idBlocks].filter((each) => !existing.includes(each))
  const isWithoutEvents = missing.length === 1 && missing[0] === topic
  if (isWithoutEvents && (await mayHaveHeldEvents(log))) throw eventsGone(`There is no topic ${topic}`, log)
  return missing
}

async function mayHaveHeldEvents(log: LogToCheck): Promise<boolean> {
  if (await isEmpty(log)) return false
  const { logId } = await foundIdentity(log)
  return (await noted(log, logId)).held !== false
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
  return { identity, events: await checkEvents(log, identity) }
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
async function checkEvents(log: LogToCheck, identity: LogIdentity | undefined): Promise<EventsAtStart> {
  const { topic, reader } = log
  const { held, firstRecords, foreign } = identity === undefined ? nothing : await noted(log, identity.logId)
  // After that: another process notes the first events of a new log once they are there.
  const found = await hasEvents(log)
  if (held !== false && !found) throw eventsGone(`Topic ${topic} is empty`, log)
  const isAnother = await new FirstRecords(reader, topic, firstRecords).areGone(performance.now() + readLimitMs)
  if (isAnother) throw eventsGone(`Topic ${topic} was made anew`, log)
  return { found, noted: held === true, firstRecords, foreign }
}

const nothing: NotedEvents = { held: false, firstRecords: [], foreign: 0 }

async function noted({ reader, topic, idBlocks }: LogToCheck, logId: string): Promise<NotedEvents> {
  const found = await notedEvents(reader, idBlocks, logId)
  if (found !== undefined) return found
  throw new BootRefusal(
    `Topic ${idBlocks} ends in more than ${foreignMax} records that are not of the log ${logId}, so it ` +
      `is not known whether there were events. Take away its right to write there. If the events are in ${topic}, ` +
      `append a record of the log to ${idBlocks}, as the command runbook says under 'Records of others in the id blocks', or restore both topics from a backup, ${orNewLog}`,
  )
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
  // Events are read first: a process writes the identity before it appends any, so a log that is just being created is
  // not refused.
  const isUsed = await hasEvents(log)
  if (!(await isEmpty(log))) return await existingIdentity(log, partitionsFound)
  if (isUsed) throw idBlocksGone(`Topic ${log.idBlocks} is empty`, log)
  checkPartitions(log, partitionsFound, partitionsFound)
  return undefined
}

async function isEmpty({ reader, idBlocks }: LogToCheck): Promise<boolean> {
  const [end] = await reader.offsets(idBlocks, 'next', readLimitMs)
  return end === 0
}

async function existingIdentity(log: LogToCheck, partitionsFound: number): Promise<LogIdentity> {
  const identity = await foundIdentity(log)
  checkPartitions(log, partitionsFound, identity.partitions)
  return identity
}

async function foundIdentity({ reader, topic, idBlocks }: LogToCheck): Promise<LogIdentity> {
  const identity = await readIdentity(reader, idBlocks)
  if (identity !== undefined) return identity
  throw new BootRefusal(
    `The first record of topic ${idBlocks} is not the identity of a log: something else wrote to it. Restore it from ` +
      `a backup, or delete it if ${topic} never held events: the next start creates it; ${orNewLog}`,
  )
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
