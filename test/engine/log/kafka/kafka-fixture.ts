import { randomUUID } from 'node:crypto'
import kafkajs from 'kafkajs'
import { pino } from 'pino'
import type { EventLog } from '../../../../src/engine/log/event-log.ts'
import { openKafkaEventLog } from '../../../../src/engine/log/kafka/kafka-event-log.ts'
import type { KafkaLogOptions } from '../../../../src/engine/log/kafka/log-part-options.ts'
import { asAdmin, type NewMessage, produceTo } from '../../../brokers/topics.ts'
import { closedAfterTest, type EventLogFixture } from '../contract/fixture.ts'

export const silent = pino({ level: 'silent' })

/** The default limit of a broker for one record batch is 1 MiB. */
const tooLarge = 'x'.repeat(2 * 1024 * 1024)

export function logOptions(brokers: string, changed: Partial<KafkaLogOptions> = {}): KafkaLogOptions {
  const topic = `seats-${randomUUID()}`
  return { brokers: brokers.split(','), topic, partitions: 3, appendTimeoutMs: 5000, logger: silent, ...changed }
}

/** Closed after the test. */
export async function openKafkaLog(options: KafkaLogOptions): Promise<EventLog> {
  return closedAfterTest(await openKafkaEventLog(options))
}

const keptForEver = { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'retention.bytes': '-1' }

/** A topic of a log, as somebody would make it by hand. */
export function topic(name: string, numPartitions: number, changed: Record<string, string> = {}) {
  return { topic: name, numPartitions, configEntries: entriesOf({ ...keptForEver, ...changed }) }
}

export function topicsOf({ topic: name, partitions }: KafkaLogOptions, changed: Record<string, string> = {}) {
  return [topic(name, partitions, changed), topic(`${name}.id-blocks`, 1, changed)] as const
}

function entriesOf(settings: Record<string, string>) {
  return Object.entries(settings).map(([name, value]) => ({ name, value }))
}

export async function openKafkaFixture(brokers: string): Promise<EventLogFixture> {
  const options = logOptions(brokers)
  return {
    log: await openKafkaLog(options),
    open: () => openKafkaLog(options),
    refused: { key: 'refused', value: tooLarge, headers: {} },
    appendForeign: (record) => produce(brokers, options.topic, { ...record, partition: 0 }),
  }
}

/** Its own settings are these then, and no others. */
export async function alterTopic(brokers: string, name: string, settings: Record<string, string>): Promise<void> {
  const resources = [{ type: kafkajs.ConfigResourceTypes.TOPIC, name, configEntries: entriesOf(settings) }]
  await asAdmin(brokers, (admin) => admin.alterConfigs({ validateOnly: false, resources }))
}

/** Those of partition 0 before `offset`. */
export async function deleteRecords(brokers: string, topic: string, offset: number): Promise<void> {
  await asAdmin(brokers, async (admin) => {
    await admin.fetchTopicOffsets(topic) // kafkajs has to know the topic first
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: String(offset) }] })
  })
}

export function produce(brokers: string, topic: string, message: NewMessage): Promise<void> {
  return produceTo(brokers, topic, [message])
}
