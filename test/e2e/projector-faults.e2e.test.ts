import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setInterval as every } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { petStreams } from '../../src/app/petstore.ts'
import { openStorage, type Storage } from '../../src/app/storage.ts'
import { Projector } from '../../src/projector/projector.ts'
import { Tracker } from '../../src/read-models/tracker.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, inParallel } from './client.ts'
import { expectVerified } from './petstore.ts'
import { brokerEnvironment, type Environment, type ServiceProcess, startService } from './service-process.ts'
import { openStore, positionOf } from './stored-state.ts'
import { readEvents } from './topic.ts'
import { expectTruth, settleUnknown, WriteLoad } from './write-load.ts'

const timeout = 300_000
const logger = pino({ level: 'silent' })
const dyingProjector = fileURLToPath(new URL('dying-projector.ts', import.meta.url))

describeWithBrokers('nothing is lost or doubled', (brokers) => {
  async function start(settings: Environment = {}) {
    const environment = { ...brokerEnvironment(brokers), ...settings }
    const [api, projector] = (await Promise.all(
      ['api', 'projector'].map((ROLE) => startService({ ...environment, ROLE })),
    )) as [ServiceProcess, ServiceProcess]
    await projector.end('SIGTERM') // needed for the first catch-up only: each test has its own
    const client = new Client(api)
    const load = new WriteLoad(client, 8)
    async function expectTrue(): Promise<void> {
      const attempts = await load.stop()
      const settled = await settleUnknown(client, attempts)
      const events = await readEvents(environment.KAFKA_BROKERS, environment.KAFKA_TOPIC)
      await expectTruth(client, { attempts, settled, events })
      await expectVerified(environment)
    }
    return { environment, load, expectTrue }
  }

  it('although 100 projectors are killed with kill -9 in the middle of an apply', { timeout }, async () => {
    const { environment, load, expectTrue } = await start()
    const ends = await inParallel(100, 4, () => endOfDyingProjector(environment))
    expect(ends.filter((signal) => signal !== 'SIGKILL')).toEqual([])
    const store = await openStore(environment)
    expect(await positionOf(store, (await store.generations.active())?.name ?? '')).toBeGreaterThan(100)
    await startService({ ...environment, ROLE: 'projector' })
    await load.until(100, 201)
    await expectTrue()
  })

  it('although two projectors work on the same partition, each as if it were alone', { timeout }, async () => {
    const { environment, load, expectTrue } = await start({ KAFKA_PARTITIONS: '1' })
    const outcomes = [new Map<string, number>(), new Map<string, number>()]
    for (const counted of outcomes) {
      const storage = await open(environment)
      countOutcomes(storage, counted)
      await startProjector(storage, randomUUID())
    }
    await load.until(1000, 201)
    // Each had batches to apply, though one of the two may always have been the first.
    for (const counted of outcomes) expect(counted.size).toBeGreaterThan(0)
    await expectTrue()
  })

  it('although every second for a minute a projector joins and another leaves', { timeout }, async () => {
    const { environment, load, expectTrue } = await start()
    const storage = await open(environment)
    const outcomes = new Map<string, number>()
    countOutcomes(storage, outcomes)
    const running = [await startProjector(storage, storage.group)]
    let seconds = 0
    for await (const _ of every(1000)) {
      running.push(await startProjector(storage, storage.group))
      if (running.length > 2) void running.shift()?.close()
      if (++seconds === 60) break
    }
    expect(outcomes.get('applied')).toBeGreaterThan(0)
    await load.until(100, 201)
    await expectTrue()
  })
})

async function endOfDyingProjector(environment: Environment): Promise<NodeJS.Signals | null> {
  const { PATH } = process.env
  const child = spawn(process.execPath, [dyingProjector, randomUUID()], { env: { PATH, ...environment } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [, signal] = await once(child, 'exit')
  return signal
}

async function open(environment: Environment): Promise<Storage> {
  const storage = await openStorage(readConfig(environment), logger)
  onTestFinished(() => storage.close())
  return storage
}

/** It ends with the test, unless before. */
async function startProjector({ log, stores: [store] }: Storage, group: string): Promise<{ close(): Promise<void> }> {
  const tracker = new Tracker(store.generations)
  const projector = await Projector.start({ log, store, tracker, definition: petStreams, group, logger })
  async function close(): Promise<void> {
    await projector.close()
    await tracker.close()
  }
  onTestFinished(close)
  return { close }
}

/** Counts what came of each apply, and the loads before: a projector that comes second may be told by these already. */
function countOutcomes({ stores: [{ projection }] }: Storage, outcomes: Map<string, number>): void {
  const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  const load = projection.load.bind(projection)
  projection.load = async (generation, request) => {
    count('loaded')
    return await load(generation, request)
  }
  const apply = projection.apply.bind(projection)
  projection.apply = async (generation, batch) => {
    const result = await apply(generation, batch)
    count(result.outcome)
    return result
  }
}
