import type { Admin } from 'kafkajs'
import { tlsProblem } from '../../lib/errors/tls-errors.ts'
import { type Finding, failed, ok, warning } from '../../lib/operating/finding.ts'
import type { Warning } from '../../lib/operating/warning.ts'
import { checkLog, type LogToCheck, missingTopics, refuseWithoutIdBlocks } from './boot-checks.ts'
import { asAdmin } from './kafka-boot.ts'
import { KafkaClient } from './kafka-client.ts'
import { KafkaReader } from './kafka-reader.ts'
import { findTopics, type TopicsWanted } from './kafka-topics.ts'
import type { KafkaLogOptions } from './log-part-options.ts'
import { foreignRecords, weaknesses } from './topic-faults.ts'

type KafkaToCheck = Omit<KafkaLogOptions, 'appendTimeoutMs'>

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
    const client = new KafkaClient({ ...options, brokers: [broker] })
    const { brokers } = await asAdmin(client, limitMs, (admin) => admin.describeCluster())
    return ok(what, `answers; there are ${brokers.length} brokers`)
  } catch (error) {
    return failed(what, `${error instanceof Error ? error.message : error}: ${remedyOf(error)}`)
  }
}

/** Nobody starts a broker that has answered. */
export function remedyOf(error: unknown): string {
  if (tlsProblem(error) !== undefined) return 'check KAFKA_TLS and the KAFKA_TLS files'
  const { name, type, cause } = error as Error & { type?: string }
  if (name === 'KafkaJSSASLAuthenticationError') return 'check the KAFKA_SASL variables'
  if (type === 'ILLEGAL_SASL_STATE')
    return 'its sessions are too short: set its connections.max.reauth.ms to 5000 or more'
  return cause instanceof Error
    ? remedyOf(cause)
    : 'start it, or correct KAFKA_BROKERS and the KAFKA_TLS and KAFKA_SASL variables'
}

async function checkTopics(options: KafkaToCheck): Promise<Finding[]> {
  const what = `topic ${options.topic}`
  const reader = new KafkaReader(() => new KafkaClient(options))
  const log = { ...options, idBlocks: `${options.topic}.id-blocks`, reader }
  try {
    return await asAdmin(new KafkaClient(options), limitMs, (admin) => checkLogOf(admin, log, what))
  } catch (error) {
    return failures(what, error)
  } finally {
    reader.close()
  }
}

/** Goes the way of a start, but makes nothing. */
async function checkLogOf(admin: Admin, log: LogToCheck & TopicsWanted, what: string): Promise<Finding[]> {
  const missing = await missingTopics(admin, log)
  if (missing.length === 2) return [ok(what, 'is not there yet: the first start makes it')]
  if (missing[0] === log.idBlocks) await refuseWithoutIdBlocks(log)
  if (missing.length === 1) return [warning(what, `There is no topic ${missing[0]}: the next start makes it.`)]
  const found = await findTopics(admin, log.reader, log)
  const asWarnings = (faults: readonly Warning[]) => faults.map(({ message }) => warning(what, message))
  const weak = asWarnings(weaknesses(found))
  const checked = await checkLog(log, found).then(
    ({ events }) => asWarnings(foreignRecords(log.idBlocks, events.foreign)),
    (error) => failures(what, error),
  )
  if (checked.length + weak.length > 0) return [...checked, ...weak]
  return [ok(what, `is kept as it should be, in ${found.events.partitions} partitions`)]
}

/** A refusal has a line for each problem. */
function failures(what: string, error: unknown): Finding[] {
  const { detail } = failed(what, error)
  return detail.split('\n').map((problem) => failed(what, problem))
}
