import type { Admin } from 'kafkajs'
import type { Warning } from '../../lib/warning.ts'
import type { KafkaProducer } from './kafka-producer.ts'
import type { KafkaReader } from './kafka-reader.ts'
import { heldEvents, type LogIdentity, readIdentity, writeIdentity } from './log-identity.ts'
import { copyInstead, orNewLog, otherPartitions } from './topic-faults.ts'

/** A log at the start, and how to read from it. */
export interface LogToCheck {
  readonly topic: string
  readonly partitions: number
  readonly idBlocks: string
  readonly reader: KafkaReader
  readonly idBlocksProducer: KafkaProducer
}

/** What the start knows about events. */
export interface Events {
  /** Whether there were any. */
  readonly found: boolean
  /** Whether that is noted in the log, for later starts. */
  readonly noted: boolean
}

/** Why the log may not be used as it is: waiting would not help. The message says what to do. */
export class BootRefusal extends Error {
  override readonly name = 'BootRefusal'
}

const readLimitMs = 3000

/** Called before an empty topic is created in place of a missing one. */
export async function refuseWithoutEvents(admin: Admin, { reader, topic, idBlocks }: LogToCheck): Promise<void> {
  const existing = await admin.listTopics()
  if (existing.includes(topic) || !existing.includes(idBlocks)) return
  const held = await heldEvents(reader, idBlocks)
  if (held !== false) throw eventsGone(`There is no topic ${topic}`, { topic, idBlocks })
}

/** Refuses a log that may have held events but holds none. */
export async function checkEvents({ reader, topic, idBlocks }: LogToCheck): Promise<Events> {
  const noted = await heldEvents(reader, idBlocks)
  // After that: another process notes the first events of a new log once they are there.
  const ends = await reader.offsets(topic, 'next', readLimitMs)
  const found = ends.some((end) => end > 0)
  if (noted !== false && !found) {
    throw eventsGone(`Topic ${topic} is empty`, { topic, idBlocks })
  }
  return { found, noted: noted === true }
}

function eventsGone(found: string, { topic, idBlocks }: Pick<LogToCheck, 'topic' | 'idBlocks'>): BootRefusal {
  return new BootRefusal(
    `${found}, but ${idBlocks} belongs to a log with events: the events are gone. Restore ${topic} from a backup. To begin ` +
      `a new log, delete ${idBlocks} as well, ${orNewLog}`,
  )
}

/** Reports all problems at once, so that following one piece of advice does not lead to the next refusal. */
export function refuse(faults: readonly Warning[]): void {
  if (faults.length > 0) throw new BootRefusal(faults.map(({ message }) => message).join('\n'))
}

/** The identity is read back and never assumed: another process may have written first. */
export async function establishIdentity(parts: LogToCheck, partitionsFound: number): Promise<LogIdentity> {
  const { reader, topic, partitions, idBlocks, idBlocksProducer } = parts
  // Events are read first: a process writes the identity before it appends any, so a log that is just being created is
  // not refused.
  const events = await reader.offsets(topic, 'next', readLimitMs)
  const [blocks] = await reader.offsets(idBlocks, 'next', readLimitMs)
  if (blocks === 0 && events.some((end) => end > 0)) {
    throw new BootRefusal(
      `Topic ${idBlocks} is empty, but ${topic} holds events: ids would be given out twice. Restore ${idBlocks} from ` +
        `a backup, ${orNewLog}`,
    )
  }
  if (blocks === 0) {
    checkPartitions(parts, partitionsFound, partitionsFound)
    await writeIdentity(idBlocksProducer, partitions)
  }
  const identity = await readIdentity(reader, idBlocks)
  if (identity === undefined) {
    throw new BootRefusal(
      `The first record of topic ${idBlocks} is not the identity of a log: something else wrote to it. Restore it from ` +
        `a backup, ${orNewLog}`,
    )
  }
  checkPartitions(parts, partitionsFound, identity.partitions)
  return identity
}

export function checkIdBlocks({ idBlocks }: LogToCheck, found: number): void {
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
