import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { petStreams } from '../../src/app/petstore.ts'
import { encodeEvent } from '../../src/domain/event-codec.ts'
import type { Pet, PetId } from '../../src/domain/pet.ts'
import type { EventLog, NewRecord } from '../../src/event-log/event-log.ts'
import { openKafkaEventLog } from '../../src/event-log/kafka/kafka-event-log.ts'
import { ServiceError } from '../../src/lib/errors.ts'
import { LagMeter } from '../../src/projector/lag-meter.ts'
import { Projector } from '../../src/projector/projector.ts'
import type { ProjectionStore } from '../../src/read-models/projection-store.ts'
import { openSqliteReadModels } from '../../src/read-models/sqlite/sqlite-read-models.ts'
import type { ReadModelStore } from '../../src/read-models/store.ts'
import { Tracker } from '../../src/read-models/tracker.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
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
    /** The lag by partition, as the tools show it. */
    const lag = async () => {
      const [ends, offsets] = [await log.endOffsets(), await committed()]
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

  it('follow a projector: records applied, skipped, superseded and parked, a restart, and a rebuild', async () => {
    const world = await open()
    const { options, log, group, lag, untilCommitted } = world
    const { store, tracker, refusing } = openStore()
    const meter = new LagMeter({ log, tracker })
    closing.push(() => meter.close())
    const start = () => startProjector(log, { store, tracker }, group)
    const untilToolsAgree = (events: readonly number[]) =>
      vi.waitFor(async () => {
        const { lag: ours } = meter
        expect(ours.status === 'known' && ours.partitions.map((each) => each.events)).toEqual(events)
        expect(await lag()).toEqual(events)
      }, patience)

    const first = await start()
    await untilToolsAgree([0, 0, 0])
    const [one = 0, two = 0] = idsIn(log, 0)
    // The second creation of one is superseded; that of two follows its first one, and cannot be applied.
    await log.append(0, [created(one), created(two), created(one), created(two, 2)])
    await produce(brokers, options.topic, { key: null, value: 'no event', partition: 0 })
    for (const value of ['no event', 'none either']) {
      await produce(brokers, options.topic, { key: null, value, partition: 1 })
    }
    await untilCommitted([5, 2, 0])
    await untilToolsAgree([0, 0, 0])
    expect(meter.lag).toMatchObject({
      partitions: [
        { checkpoint: { counts: { applied: 2, superseded: 1, parked: 1, skipped: 1 } } },
        { checkpoint: { counts: { skipped: 2 } } },
        {},
      ],
    })

    await first.close()
    await log.append(
      2,
      idsIn(log, 2).map((id) => created(id)),
    )
    await untilToolsAgree([0, 0, 2])
    await start()
    await untilToolsAgree([0, 0, 0])

    refusing.now = true
    const active = await store.generations.active()
    await store.generations.start({ name: 'the next one', logId: log.logId }, active?.name)
    await untilToolsAgree([5, 2, 2])
    refusing.now = false
    await untilToolsAgree([0, 0, 0])
  }, 180_000)

  /** Read models that refuse to be written to while they are told to. */
  function openStore() {
    const folder = mkdtempSync(join(tmpdir(), 'petstore-committed-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'read-models.db')
    const opened = openSqliteReadModels({ file, version: 'test', home: petStreams.home, isOwner: true })
    const refusing = { now: false }
    const projection: ProjectionStore = {
      load: (...request) => opened.projection.load(...request),
      apply: async (...batch) => {
        if (refusing.now) throw new ServiceError('read_model_unavailable', 'refused')
        return await opened.projection.apply(...batch)
      },
    }
    const tracker = new Tracker(opened.generations)
    closing.push(async () => {
      await tracker.close()
      await opened.close()
    })
    return { store: { ...opened, projection }, tracker, refusing }
  }

  async function startProjector(
    log: EventLog,
    parts: { store: ReadModelStore; tracker: Tracker },
    group: string,
  ): Promise<{ close(): Promise<void> }> {
    const projector = await Projector.start({ log, ...parts, definition: petStreams, group, logger: silent })
    let closed: Promise<void> | undefined
    const close = () => {
      closed ??= projector.close()
      return closed
    }
    closing.push(close)
    return { close }
  }
})

/** Two pet ids that the default partitioner sends to the partition. */
function idsIn(log: EventLog, partition: number): number[] {
  const ids = Array.from({ length: 1000 }, (_, i) => i + 1)
  return ids.filter((id) => log.partitionFor(String(id)) === partition).slice(0, 2)
}

function created(id: number, version = 1): NewRecord {
  const pet: Pet = { id: id as PetId, name: `pet ${id}`, categoryId: 1, status: 'available' }
  return encodeEvent({ type: 'PetCreated', pet }, { eventId: randomUUID(), version, time: new Date(0).toISOString() })
}
