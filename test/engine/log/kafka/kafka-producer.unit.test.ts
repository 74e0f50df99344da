import '../../../brokers/process-setup.ts'
import { createRequire } from 'node:module'
import { expect, it, onTestFinished } from 'vitest'
import type { ServiceError } from '../../../../src/engine/lib/errors/errors.ts'
import { KafkaClient } from '../../../../src/engine/log/kafka/kafka-client.ts'
import { KafkaProducer } from '../../../../src/engine/log/kafka/kafka-producer.ts'
import { records } from '../contract/fixture.ts'
import { silent } from './kafka-fixture.ts'
import { ScriptedBroker } from './scripted-broker.ts'

const { errorCodes }: { errorCodes: readonly { type: string; code: number }[] } = createRequire(import.meta.url)(
  'kafkajs/src/protocol/error',
)
const codeNamed = (name: string) => errorCodes.find(({ type }) => type === name)?.code ?? Number.NaN
const limitMs = 5000

async function open() {
  const broker = await ScriptedBroker.start()
  const newClient = () => new KafkaClient({ brokers: [`127.0.0.1:${broker.port}`], logger: silent })
  const producer = new KafkaProducer(newClient, broker.topic, silent)
  onTestFinished(() => producer.close())
  const append = (withinMs = limitMs) => producer.append(0, records('a', 'b'), withinMs)
  return { broker, append }
}

function codeOf(append: Promise<unknown>): Promise<string> {
  return append.then(
    () => 'appended',
    (error: ServiceError) => error.code,
  )
}

it('asks for all in-sync replicas, and for an answer before it stops waiting for one', async () => {
  const { broker, append } = await open()
  expect(await append()).toBe(40)
  expect(broker.asked).toEqual([{ acks: -1, timeoutMs: 2500 }])
})

/** The errors with which a broker says that it has written nothing, and will not. */
const refusals = [
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'POLICY_VIOLATION',
  'TOPIC_AUTHORIZATION_FAILED',
  'INVALID_TIMESTAMP',
  'NOT_ENOUGH_REPLICAS',
]

it('knows of each error of Kafka whether something may be stored', async () => {
  const { broker, append } = await open()
  const outcomes: Record<string, string> = {}
  for (const { type, code } of errorCodes) {
    broker.produceAnswer = code
    outcomes[type] = await codeOf(append())
  }
  const expected = ({ type }: { readonly type: string }) =>
    refusals.includes(type) ? 'event_log_unavailable' : 'append_outcome_unknown'
  expect(outcomes).toEqual(Object.fromEntries(errorCodes.map((error) => [error.type, expected(error)])))
  expect(outcomes).toMatchObject({
    NOT_ENOUGH_REPLICAS_AFTER_APPEND: 'append_outcome_unknown',
    NOT_LEADER_FOR_PARTITION: 'append_outcome_unknown',
    REQUEST_TIMED_OUT: 'append_outcome_unknown',
  })
})

it('sends nothing twice', async () => {
  const { broker, append } = await open()
  broker.produceAnswer = codeNamed('NOT_LEADER_FOR_PARTITION')
  expect(await codeOf(append())).toBe('append_outcome_unknown')
  expect(broker.asked).toHaveLength(1)
})

it.each(['close', 'nothing'] as const)('does not know what was stored where the answer is: %s', async (answer) => {
  const { broker, append } = await open()
  broker.produceAnswer = answer
  expect(await codeOf(append(200))).toBe('append_outcome_unknown')
})

it('knows that nothing was stored where nothing was sent', async () => {
  const { broker, append } = await open()
  broker.metadataError = codeNamed('UNKNOWN_TOPIC_OR_PARTITION')
  expect(await codeOf(append())).toBe('event_log_unavailable')
  broker.stop()
  expect(await codeOf(append())).toBe('event_log_unavailable')
  expect(broker.asked).toEqual([])
})

it('does not take what comes of a look for another leader for the answer to the append', async () => {
  const { broker, append } = await open()
  await append()
  broker.produceAnswer = codeNamed('NOT_LEADER_FOR_PARTITION')
  broker.metadataError = codeNamed('TOPIC_AUTHORIZATION_FAILED')
  expect(await codeOf(append())).toBe('append_outcome_unknown')
})
