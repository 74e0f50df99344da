import { createRequire } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { tuneProcess } from '../../../../src/engine/log/kafka/process-tuning.ts'

const require = createRequire(import.meta.url)
const Runner = require('kafkajs/src/consumer/runner')
const InstrumentationEventEmitter = require('kafkajs/src/instrumentation/emitter')

test('a consumer that is stopped while its brokers change ends, and never asks without a pause', async () => {
  tuneProcess({ consumes: false })
  const group = new Group()
  const asked = countsOf('consumer not running, exiting')
  const runner = new Runner({
    consumerGroup: group,
    logger: asked.logger,
    instrumentationEmitter: new InstrumentationEventEmitter(),
    concurrency: 1,
    retry: { retries: 1, initialRetryTime: 1, maxRetryTime: 1 },
    onCrash: (error: unknown) => expect.unreachable(String(error)),
  })
  await runner.start()

  group.nodes = [1, 3]
  group.answer(2) // this fetcher notices the change, and waits for the other one
  await nextTurn()
  const stopped = runner.stop()
  group.answer(1)
  await stopped

  expect(group.hasLeft).toBe(true)
  expect(asked.count).toBe(0)
})

/** A consumer group whose brokers answer a fetch when they are told to. */
class Group {
  readonly groupId = 'group'
  readonly memberId = 'member'
  nodes = [1, 2]
  hasLeft = false
  readonly #fetches = new Map<number, (batches: never[]) => void>()

  getNodeIds = () => this.nodes
  connect = async () => {}
  joinAndSync = async () => {}
  heartbeat = async () => {}
  fetch = (node: number) => new Promise((resolve) => this.#fetches.set(node, resolve))

  answer(node: number): void {
    this.#fetches.get(node)?.([])
  }

  async leave(): Promise<void> {
    this.hasLeft = true
  }
}

/** How often a text was logged. It throws long before a test that logs it without end would stand still. */
function countsOf(text: string) {
  const counted = { count: 0, logger: { namespace: () => logger } }
  const log = (message: string) => {
    if (message === text && ++counted.count > 1000) throw new Error(`${text}: without end`)
  }
  const logger = { namespace: () => logger, debug: log, info: () => {}, warn: log, error: log }
  return counted
}
