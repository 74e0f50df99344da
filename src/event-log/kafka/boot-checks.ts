import type { Admin } from 'kafkajs'
import type { Warning } from '../../lib/warning.ts'
import type { KafkaProducer } from './kafka-producer.ts'
import type { KafkaReader } from './kafka-reader.ts'
import { heldEvents, type LogIdentity, readIdentity, writeIdentity } from './log-identity.ts'
import { copyInstead, orNewLog, otherPartitions } from './topic-faults.ts'

/** What a start was told of a log, and how it is asked for more. */
export interface LogToCheck {
  readonly topic: string
  readonly partitions: number
  readonly idBlocks: string
  readonly reader: KafkaReader
  readonly idBlocksProducer: KafkaProducer
}

/** What a start knew of the events. */
export interface Events {
  /** Whether there were some. */
  readonly found: boolean
  /** Whether that is noted, for the starts to come. */
  readonly noted: boolean
}

/** Why the log may not be used as it is: waiting would not change it. The message says what to do. */
export class BootRefusal extends Error {
  override readonly name = 'BootRefusal'
}

const readLimitMs = 3000

/** Before an empty topic takes the place of one that is gone. */
export async function refuseWithoutEvents(admin: Admin, { reader, topic, idBlocks }: LogToCheck): Promise<void> {
  const existing = await admin.listTopics()
  if (existing.includes(topic) || !existing.includes(idBlocks)) return
  const held = await heldEvents(reader, idBlocks)
  if (held !== false) throw eventsGone(`There is no topic ${topic}`, { topic, idBlocks })
}

/** Refuses a log that could have held events, and holds none. */
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
    `${found}, but ${idBlocks} is that of a log with events: they are gone. Restore ${topic} from a backup. To begin ` +
      `a new log, delete ${idBlocks} as well, ${orNewLog}`,
  )
}

/** All at once, so that whoever follows one piece of advice does not meet the next refusal. */
export function refuse(faults: readonly Warning[]): void {
  if (faults.length > 0) throw new BootRefusal(faults.map(({ message }) => message).join('\n'))
}

/** The identity is read back and never assumed from what was written: another process may have been first. */
export async function establishIdentity(parts: LogToCheck, partitionsFound: number): Promise<LogIdentity> {
  const { reader, topic, partitions, idBlocks, idBlocksProducer } = parts
  // Events first: whoever appends them has written the identity before, so that a log being born is not refused.
  const events = await reader.offsets(topic, 'next', readLimitMs)
  const [blocks] = await reader.offsets(idBlocks, 'next', readLimitMs)
  if (blocks === 0 && events.some((end) => end > 0)) {
    throw new BootRefusal(
      `Topic ${idBlocks} is empty, but ${topic} holds events: ids would be given a second time. Restore ${idBlocks} from ` +
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

/** Only the number that the log was made with is ever advised. */
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
