import { expect, it, onTestFinished, vi } from 'vitest'
import { ServiceError } from '../../../../src/engine/lib/errors/errors.ts'
import type { EventLog } from '../../../../src/engine/log/event-log.ts'
import type { KafkaLogOptions } from '../../../../src/engine/log/kafka/log-part-options.ts'
import { LagMeter } from '../../../../src/engine/projector/lag-meter.ts'
import { Tracker } from '../../../../src/engine/read-models/tracker.ts'
import { describeWithBrokers } from '../../../brokers/describe.ts'
import { asAdmin } from '../../../brokers/topics.ts'
import { asText, seatAdded } from '../../projector/records.ts'
import { disturbed, openWorld } from '../../projector/world.ts'
import { eventually, records } from '../contract/fixture.ts'
import { newGroup, RecordingSubscriber } from '../recording-subscriber.ts'
import { logOptions, openKafkaLog, produce } from './kafka-fixture.ts'

const patience = { timeout: 30_000, interval: 100 }

/** What `kafka-consumer-groups --describe` goes by: the offsets that the group committed. */
describeWithBrokers('the offsets that a group has committed in Kafka', ({ kafkaBrokers: brokers }) => {
  async function open(changed: Partial<KafkaLogOptions> = { commitIntervalMs: 100 }) {
    const { topic, ...options } = logOptions(brokers, changed)
    const log = await openKafkaLog({ topic, ...options })
    const groupId = newGroup()
    const committed = async () => {
      const [found] = await asAdmin(brokers, (admin) => admin.fetchOffsets({ groupId, topics: [topic] }))
      return found?.partitions.toSorted((a, b) => a.partition - b.partition).map(({ offset }) => Number(offset)) ?? []
    }
    const untilCommitted = (offsets: readonly number[]) =>
      vi.waitFor(async () => expect(await committed()).toEqual(offsets), patience)
    return { topic, log, group: groupId, committed, untilCommitted }
  }

  it('are there for partitions without records too, and nobody reads them', async () => {
    const { log, group, untilCommitted } = await open()
    await log.append(1, records('a', 'b'))
    const first = await RecordingSubscriber.on(log, { group })
    await untilCommitted([0, 2, 0])
    await first.close()
    const next = await RecordingSubscriber.on(log, { group, from: 1 })
    await eventually(() => next.values(1), ['b'])
    expect(next.of(1)[0]?.from).toBe(1)
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
    const { log, group, committed } = await open({}) // which commits too seldom to come before the close
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
    const { topic, log, group, committed, untilCommitted } = await open()
    const world = openWorld()
    const { generations } = world.store
    let isRefusing = false
    const store = disturbed(world.store, (method) => {
      if (isRefusing && method === 'apply') throw new ServiceError('read_model_unavailable', 'refused')
    })
    const tracker = new Tracker(generations)
    const meter = new LagMeter({ log, tracker })
    onTestFinished(async () => {
      await meter.close()
      await tracker.close()
    })
    const untilToolsAgree = (events: readonly number[]) =>
      vi.waitFor(async () => {
        const { lag } = meter
        expect(lag.status === 'known' && lag.partitions.map((each) => each.events)).toEqual(events)
        const [ends, offsets] = [await log.endOffsets(), await committed()]
        expect(ends.map((end, partition) => end - (offsets[partition] ?? Number.NaN))).toEqual(events)
      }, patience)

    await world.start({ log, store, group })
    await untilToolsAgree([0, 0, 0])
    const [one = 0, two = 0] = idsIn(log, 0)
    // The second creation of one is superseded; that of two follows its first one, and cannot be applied.
    const seats = [one, two, one].map((id) => seatAdded({ id }))
    await log.append(0, asText([...seats, seatAdded({ id: two }, { version: 2 })]))
    for (const partition of [0, 1, 1]) await produce(brokers, topic, { key: null, value: 'no event', partition })
    await untilCommitted([5, 2, 0])
    await untilToolsAgree([0, 0, 0])
    const counts = [{ applied: 2, superseded: 1, parked: 1, skipped: 1 }, { skipped: 2 }, {}]
    const partitions = counts.map((each) => ({ checkpoint: { counts: each } }))
    await vi.waitFor(() => expect(meter.lag).toMatchObject({ partitions }), patience)

    await world.stop()
    await log.append(2, asText(idsIn(log, 2).map((id) => seatAdded({ id }))))
    await untilToolsAgree([0, 0, 2])
    await world.start({ log, store, group })
    await untilToolsAgree([0, 0, 0])

    isRefusing = true
    const active = await generations.active()
    await generations.start({ name: 'the next one', logId: log.logId }, active?.name)
    await untilToolsAgree([5, 2, 2])
    isRefusing = false
    await untilToolsAgree([0, 0, 0])
  }, 180_000)
})

/** Two seat ids that the default partitioner sends to the partition. */
function idsIn(log: EventLog, partition: number): number[] {
  const ids = Array.from({ length: 1000 }, (_, i) => i + 1)
  return ids.filter((id) => log.partitionFor(String(id)) === partition).slice(0, 2)
}
