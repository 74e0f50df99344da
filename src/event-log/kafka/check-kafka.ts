import type { Admin } from 'kafkajs'
import { type Finding, failed, ok } from '../../lib/finding.ts'
import type { Warning } from '../../lib/warning.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import { type KafkaAccess, KafkaClient } from './kafka-client.ts'
import { KafkaReader } from './kafka-reader.ts'
import { findTopics, type TopicsWanted } from './kafka-topics.ts'
import { readIdentity } from './log-identity.ts'
import { incompleteness, partitionsChanged, weaknesses } from './topic-faults.ts'

export type KafkaToCheck = KafkaAccess & Omit<TopicsWanted, 'idBlocks'>

const limitMs = 5000

/** Looks at each broker and at both topics, and changes nothing. */
export async function checkKafka(options: KafkaToCheck): Promise<Finding[]> {
  const brokers = await Promise.all(options.brokers.map((broker) => checkBroker(options, broker)))
  if (brokers.every(({ state }) => state === 'failed')) return brokers
  return [...brokers, ...(await checkTopics(options))]
}

async function checkBroker(options: KafkaToCheck, broker: string): Promise<Finding> {
  const what = `Kafka at ${broker}`
  try {
    const { brokers } = await asAdmin({ ...options, brokers: [broker] }, (admin) => admin.describeCluster())
    return ok(what, `answers; there are ${brokers.length} brokers`)
  } catch (error) {
    const remedy = 'start it, or correct KAFKA_BROKERS and the KAFKA_TLS and KAFKA_SASL variables'
    return failed(what, `${error instanceof Error ? error.message : error}: ${remedy}`)
  }
}

async function checkTopics(options: KafkaToCheck): Promise<Finding[]> {
  const wanted = { ...options, idBlocks: `${options.topic}.id-blocks` }
  const what = `topic ${options.topic}`
  const reader = new KafkaReader(() => new KafkaClient(options))
  try {
    return await asAdmin(options, async (admin) => {
      const existing = await admin.listTopics()
      const missing = [wanted.topic, wanted.idBlocks].filter((topic) => !existing.includes(topic))
      if (missing.length === 2) return [ok(what, 'is not there yet: the first start makes it')]
      if (missing.length === 1) {
        const there = existing.includes(wanted.topic) ? wanted.topic : wanted.idBlocks
        return [
          failed(
            what,
            `There is ${there}, but no ${missing[0]}: restore it from a backup, or set KAFKA_TOPIC to another name.`,
          ),
        ]
      }
      const found = await findTopics(admin, reader, wanted)
      const identity = await readIdentity(reader, wanted.idBlocks)
      const faults = [...incompleteness(found), ...partitionsChanged(found, identity?.partitions ?? wanted.partitions)]
      if (identity?.partitions !== undefined && identity.partitions !== wanted.partitions) {
        faults.push({
          code: '',
          message: `KAFKA_PARTITIONS is ${wanted.partitions}: set it to ${identity.partitions}, with which the log was made.`,
        })
      }
      const findings = [...asFindings(what, 'failed', faults), ...asFindings(what, 'warning', weaknesses(found))]
      return findings.length > 0
        ? findings
        : [ok(what, `is kept as it should be, in ${found.events.partitions} partitions`)]
    })
  } catch (error) {
    return [failed(what, error)]
  } finally {
    reader.close()
  }
}

function asFindings(what: string, state: Finding['state'], warnings: readonly Warning[]): Finding[] {
  return warnings.map(({ message }) => ({ what, state, detail: message }))
}

async function asAdmin<T>(options: KafkaAccess, work: (admin: Admin) => Promise<T>): Promise<T> {
  const client = new KafkaClient(options)
  const admin = client.kafka.admin()
  try {
    return await withTimeout(
      limitMs,
      admin.connect().then(() => work(admin)),
    )
  } finally {
    client.abandon()
  }
}
