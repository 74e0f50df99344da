import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { pets } from '../../projections/pets.ts'
import type { EventLog, NewRecord } from '../../src/event-log/event-log.ts'
import { openKafkaEventLog } from '../../src/event-log/kafka/kafka-event-log.ts'
import { ServiceError } from '../../src/lib/errors.ts'
import { LagMeter } from '../../src/projector/lag-meter.ts'
import { Projector } from '../../src/projector/projector.ts'
import type { ReadModels } from '../../src/read-models/read-models.ts'
import { openSqliteReadModels } from '../../src/read-models/sqlite/sqlite-read-models.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { petCreated } from '../projector/records.ts'
import { records } from './contract/fixture.ts'
import { logOptions, produce, silent, withAdmin } from './kafka-fixture.ts'
import { newGroup, RecordingSubscriber } from './recording-subscriber.ts'

const patience = { timeout: 30_000, interval: 100 }

/** What `kafka-consumer-groups --describe` goes by: the offsets that the group committed. */
describeWithBrokers('the offsets that a group has committed in Kafka', ({ kafkaBrokers: brokers }) => {
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  async function open() {
    const options = logOptions(brokers)
    const log = await openKafkaEventLog(options)
    closing.push(() => log.close())
    const group = newGroup()
    const committed = async () => {
      const [found] = await withAdmin(brokers, (admin) =>
        admin.fetchOffsets({ groupId: group, topics: [options.topic] }),
      )
      return found?.partitions.toSorted((a, b) => a.partition - b.partition).map(({ offset }) => Number(offset))
    }
    /** By partition, as the tools show it. */
    const lag = async () => {
      const [ends, offsets] = [await log.ends(), await committed()]
      return ends.map((end, partition) =>
        (offsets?.[partition] ?? -1) < 0 ? 'none' : end - (offsets?.[partition] ?? 0),
      )
    }
    const untilCommitted = (offsets: readonly number[]) =>
      vi.waitFor(async () => expect(await committed()).toEqual(offsets), patience)
    return { options, log, group, committed, lag, untilCommitted }
  }

  it('are there for partitions without records too', async () => {
    const { log, group, untilCommitted } = await open()
    await log.append(1, records('a', 'b'))
    await RecordingSubscriber.on(log, { group })
    await untilCommitted([0, 2, 0])
  })

  it('go back with the reader, although it gets nowhere from there', async () => {
    const { log, group, untilCommitted } = await open()
    await log.append(0, records('a', 'b', 'c'))
    const subscriber = await RecordingSubscriber.on(log, { group })
    await untilCommitted([3, 0, 0])
    subscriber.answer = async () => false
    subscriber.seek(0, 0)
    await untilCommitted([0, 0, 0])
    subscriber.answer = async () => true
    await untilCommitted([3, 0, 0])
  })

  it('are complete once a subscription on an idle log is closed', async () => {
    const { log, group, committed } = await open()
    await log.append(0, records('a', 'b', 'c'))
    const subscriber = await RecordingSubscriber.on(log, { group })
    const done = Promise.withResolvers<void>()
    subscriber.answer = async (batch) => {
      setImmediate(done.resolve) // once the answer is given
      return batch.next === 3
    }
    await done.promise
    await subscriber.close()
    expect(await committed()).toEqual([3, 0, 0])
  })

  it('follow a projector: records applied, skipped, dropped and parked, a restart, and a rebuild', async () => {
    const world = await open()
    const { options, log, group, lag, untilCommitted } = world
    const store = openStore()
    const meter = new LagMeter({ log, store })
    closing.push(() => meter.close())
    const start = () => startProjector(log, store, group)
    const untilToolsAgree = (events: readonly number[]) =>
      vi.waitFor(async () => {
        const { lag: ours } = meter
        expect(ours.status === 'known' && ours.partitions.map((each) => each.events)).toEqual(events)
        expect(await lag()).toEqual(events)
      }, patience)

    const first = await start()
    await untilToolsAgree([0, 0, 0])
    await log.append(0, [pet(1), pet(2), pet(1), pet(2, 'another event')])
    await produce(brokers, options.topic, { key: null, value: 'no event', partition: 0 })
    for (const value of ['no event', 'none either']) {
      await produce(brokers, options.topic, { key: null, value, partition: 1 })
    }
    await untilCommitted([5, 2, 0])
    await untilToolsAgree([0, 0, 0])
    expect(meter.lag).toMatchObject({
      partitions: [
        { checkpoint: { applied: 2, dropped: 1, parked: 1, skipped: 1 } },
        { checkpoint: { skipped: 2 } },
        {},
      ],
    })

    await first.close()
    await log.append(2, [pet(3), pet(4)])
    await untilToolsAgree([0, 0, 2])
    await start()
    await untilToolsAgree([0, 0, 0])

    store.refuses = true
    const active = await store.active()
    await store.start({ name: 'the next one', epoch: log.epoch }, active?.name)
    await untilToolsAgree([5, 2, 2])
    store.refuses = false
    await untilToolsAgree([0, 0, 0])
  }, 180_000)

  /** Read models that refuse to be written to while they are told to. */
  function openStore() {
    const folder = mkdtempSync(join(tmpdir(), 'petstore-committed-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const store = openSqliteReadModels({ file: join(folder, 'read-models.db'), version: 'test' })
    closing.push(() => store.close())
    const apply = store.apply.bind(store)
    return Object.assign(store, {
      refuses: false,
      async apply(this: { refuses: boolean }, ...batch: Parameters<ReadModels['apply']>) {
        if (this.refuses) throw new ServiceError('read_model_unavailable', 'refused')
        return await apply(...batch)
      },
    })
  }

  async function startProjector(log: EventLog, store: ReadModels, group: string): Promise<{ close(): Promise<void> }> {
    const projector = await Projector.start({ log, store, definition: pets, group, logger: silent })
    let closed: Promise<void> | undefined
    const close = () => {
      closed ??= projector.close()
      return closed
    }
    closing.push(close)
    return { close }
  }
})

function pet(id: number, eventId?: string): NewRecord {
  const { key, value } = petCreated(0, { id }, eventId)
  return { key: String(key), value: String(value), headers: {} }
}
