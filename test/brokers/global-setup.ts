import type { TestProject } from 'vitest/node'
import {
  type BrokerSource,
  brokerSource,
  howToGetBrokers,
  localBrokersUsable,
  type OwnBrokerSource,
  ownBrokerSource,
  startKafka,
  startRedis,
} from './brokers.ts'

/** The Kafka and the Redis that all tests of a run share; each test uses its own topic and prefix. */
export interface SharedBrokers {
  kafkaBrokers: string
  redisUrl: string
  source: BrokerSource
}

declare module 'vitest' {
  interface ProvidedContext {
    /** null where this machine has none */
    brokers: SharedBrokers | null
    /** where `startKafka` and `startRedis` would get theirs */
    ownBrokers: OwnBrokerSource
    /** whether `startKafkaCluster` can start its processes */
    localBrokers: boolean
  }
}

interface Shared {
  users: number
  brokers: Promise<{ shared: SharedBrokers | null; remove: () => Promise<void> }>
}

// Each Vitest project loads this file anew and runs it once, all in one process: they meet here and share one pair.
const meeting = globalThis as { petstoreBrokers?: Shared }

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  meeting.petstoreBrokers ??= { users: 0, brokers: start() }
  const run = meeting.petstoreBrokers
  run.users++
  const { shared, remove } = await run.brokers
  project.provide('brokers', shared)
  project.provide('ownBrokers', await ownBrokerSource())
  project.provide('localBrokers', await localBrokersUsable())
  return async () => {
    run.users--
    if (run.users > 0) return
    delete meeting.petstoreBrokers
    await remove()
  }
}

async function start(): Promise<{ shared: SharedBrokers | null; remove: () => Promise<void> }> {
  const source = await brokerSource()
  // Workers inherit the answer instead of looking again
  process.env.TEST_BROKERS = await ownBrokerSource()
  if (source === 'given') {
    const { KAFKA_BROKERS = '', REDIS_URL = '' } = process.env
    say(`Kafka ${KAFKA_BROKERS} and Redis as given`)
    return { shared: { kafkaBrokers: KAFKA_BROKERS, redisUrl: REDIS_URL, source }, remove: async () => {} }
  }
  if (source === 'none') {
    if (process.env.CI) throw new Error(`CI is set and there are no brokers: ${howToGetBrokers}`)
    say(`none, so the suites that need Kafka and Redis are SKIPPED. To run them: ${howToGetBrokers}`)
    return { shared: null, remove: async () => {} }
  }
  const [kafka, redis] = await Promise.all([startKafka(), startRedis()])
  say(`Kafka ${kafka.brokers} and Redis ${redis.url} from ${source}`)
  return {
    shared: { kafkaBrokers: kafka.brokers, redisUrl: redis.url, source },
    remove: async () => {
      await Promise.all([kafka.remove(), redis.remove()])
    },
  }
}

function say(what: string): void {
  process.stderr.write(`brokers: ${what}\n`)
}
