import { randomUUID } from 'node:crypto'
import { setInterval as every } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { petStreams } from '../../src/app/petstore.ts'
import { openStorage, type Storage } from '../../src/app/storage.ts'
import { Projector } from '../../src/projector/projector.ts'
import { Tracker } from '../../src/read-models/tracker.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { inParallel } from './client.ts'
import { Load } from './load.ts'
import { brokerEnvironment, type Environment, startProgram, startRoles, startService } from './service.ts'
import { openStore, positionOf } from './stored-state.ts'

const logger = pino({ level: 'silent' })

describeWithBrokers('nothing is lost or doubled', (brokers) => {
  async function start(settings: Environment = {}) {
    const environment = { ...brokerEnvironment(brokers), ...settings }
    const { clients, projector } = await startRoles(environment)
    await projector.end('SIGTERM') // needed for the first catch-up only: each test has its own
    const load = new Load(clients, 8)
    return { environment, load, expectTrue: () => load.expectTrue(environment) }
  }

  it('although 100 projectors are killed with kill -9 in the middle of an apply', async () => {
    const { environment, load, expectTrue } = await start()
    const startDying = () => startProgram('dying-projector.ts', environment, randomUUID())
    const ends = await inParallel(100, 4, () => startDying().ended)
    expect(ends.filter((end) => end !== 'SIGKILL')).toEqual([])
    const store = await openStore(environment)
    expect(await positionOf(store, (await store.generations.active())?.name ?? '')).toBeGreaterThan(100)
    await startService({ ...environment, ROLE: 'projector' })
    await load.until(100)
    await expectTrue()
  })

  it('although two projectors work on the same partition, each as if it were alone', async () => {
    const { environment, load, expectTrue } = await start({ KAFKA_PARTITIONS: '1' })
    const outcomes = [new Map<string, number>(), new Map<string, number>()]
    for (const counted of outcomes) {
      const storage = await open(environment)
      countOutcomes(storage, counted)
      await startProjector(storage, randomUUID())
    }
    await load.until(1000)
    // Each had batches to apply, though one of the two may always have been the first.
    for (const counted of outcomes) expect(counted.size).toBeGreaterThan(0)
    await expectTrue()
  })

  it('although every second for a minute a projector joins and another leaves', async () => {
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
    await load.until(100)
    await expectTrue()
  })
})

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
