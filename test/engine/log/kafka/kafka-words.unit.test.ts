import { expect, it, onTestFinished, vi } from 'vitest'
import { remedyOf } from '../../../../src/engine/log/kafka/check-kafka.ts'
import type { KafkaClient } from '../../../../src/engine/log/kafka/kafka-client.ts'
import { KafkaSubscription } from '../../../../src/engine/log/kafka/kafka-subscription.ts'
import { eventually } from '../../../lib/eventually.ts'
import { RecordingSubscriber } from '../recording-subscriber.ts'

/** Subscribes by consumers that cannot start; resolves to what was logged of the first. */
async function loggedOf(error: Error) {
  const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const consumer = {
    events: {},
    on: () => {},
    connect: async () => {
      throw error
    },
    disconnect: async () => {},
  }
  const client = { kafka: { consumer: () => consumer }, abandon: () => {} } as unknown as KafkaClient
  const subscription = new KafkaSubscription({
    ...{ topic: 'seats', partitions: 1, group: 'projector', newClient: () => client, leftOut: () => {} },
    logger: logger as never,
    subscriber: new RecordingSubscriber(undefined),
  })
  onTestFinished(() => subscription.close())
  await eventually(() => expect([...logger.info.mock.calls, ...logger.warn.mock.calls]).not.toEqual([]))
  return { info: logger.info.mock.calls[0], warn: logger.warn.mock.calls[0] }
}

it('a new broker that has no coordinator yet is no reason to warn; any other failure of a consumer is', async () => {
  const noCoordinator = Object.assign(new Error('Failed to find group coordinator'), {
    name: 'KafkaJSGroupCoordinatorNotFound',
  })
  const reason = 'Failed to find group coordinator'
  const { info, warn } = await loggedOf(noCoordinator)
  expect([info?.[0], warn]).toEqual([{ reason, group: 'projector' }, undefined])
  const other = new Error('crashed')
  expect((await loggedOf(other)).warn?.[0]).toEqual({ err: other, group: 'projector' })
})

it('nobody is told to start a broker that has answered', () => {
  const refused = Object.assign(new Error('SASL PLAIN authentication failed'), {
    name: 'KafkaJSSASLAuthenticationError',
  })
  expect(remedyOf(refused)).toBe('check the KAFKA_SASL variables')
  const tooSoon = Object.assign(new Error('Request is not valid given the current SASL state'), {
    type: 'ILLEGAL_SASL_STATE',
  })
  expect(remedyOf(tooSoon)).toMatch(/connections\.max\.reauth\.ms/)
  expect(remedyOf(new Error('self-signed certificate'))).toBe('check KAFKA_TLS and the KAFKA_TLS files')
  expect(remedyOf(new Error('connect ECONNREFUSED'))).toMatch(/^start it, or correct KAFKA_BROKERS/)
})
