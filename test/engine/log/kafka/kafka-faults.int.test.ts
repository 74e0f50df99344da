import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import type { EventLog, Offset } from '../../../../src/engine/log/event-log.ts'
import { type KafkaBroker, startKafka } from '../../../brokers/brokers.ts'
import { describeWithOwnBrokers } from '../../../brokers/describe.ts'
import { records } from '../contract/fixture.ts'
import { RecordingSubscriber } from '../recording-subscriber.ts'
import { logOptions, openKafkaLog } from './kafka-fixture.ts'

const patience = { timeout: 40_000, interval: 20 }
const appendTimeoutMs = 4000

describeWithOwnBrokers('Kafka event log beside a broker that fails', () => {
  let broker: KafkaBroker
  let log: EventLog
  beforeAll(async () => {
    broker = await startKafka()
  })
  afterAll(() => broker?.remove())
  beforeEach(async () => {
    log = await openKafkaLog(logOptions(broker.brokers, { appendTimeoutMs }))
  })

  it('tells the truth about each append while the broker is killed and comes back; then it heals, or opens, by itself', async () => {
    const live = await RecordingSubscriber.on(log)
    const outcomes = new Outcomes(log)
    await vi.waitFor(() => expect(outcomes.acknowledged.size).toBeGreaterThan(50), patience)
    await broker.kill()
    await vi.waitFor(() => expect(outcomes.unavailable.size).toBeGreaterThan(5), patience)
    await expect(log.endOffsets()).rejects.toMatchObject({ code: 'event_log_unavailable' })
    await expect(log.reserveIdBlock()).rejects.toMatchObject({ code: 'event_log_unavailable' })
    const opening = openKafkaLog(logOptions(broker.brokers))
    await broker.start()
    const before = outcomes.acknowledged.size
    await vi.waitFor(() => expect(outcomes.acknowledged.size).toBeGreaterThan(before + 50), patience)
    await outcomes.stop()
    expect(await log.reserveIdBlock()).toBeGreaterThan(0)
    expect(await (await opening).append(0, records('a'))).toBe(0)
    await expectTruth(live, outcomes)
    const epochs = live.batches.flatMap(({ leaderEpochs }) => leaderEpochs ?? [])
    expect(epochs.at(-1)?.last).toBeGreaterThan(epochs[0]?.first ?? Number.NaN) // the broker leads anew
  })

  it('settles each append in time while the broker hangs, and can be closed; nothing told as unavailable arrives late', async () => {
    const live = await RecordingSubscriber.on(log)
    const outcomes = new Outcomes(log)
    await vi.waitFor(() => expect(outcomes.acknowledged.size).toBeGreaterThan(20), patience)
    const [sockets, unknown] = [openSockets(), outcomes.unknown.size]
    const other = await openKafkaLog(logOptions(broker.brokers, { appendTimeoutMs }))
    const subscriber = await RecordingSubscriber.on(other)
    await vi.waitFor(() => expect(subscriber.held).toHaveLength(other.partitions), patience)
    await other.append(0, records('before'))
    await broker.pause()
    const append = expect(other.append(0, records('in flight'))).rejects.toMatchObject({
      code: 'append_outcome_unknown',
    })
    await Promise.all([other.close(), append])
    await vi.waitFor(() => expect(outcomes.unavailable.size).toBeGreaterThan(2), patience)
    expect(outcomes.unknown.size).toBe(unknown + 1) // the one in flight; those after it were never sent
    expect(openSockets()).toBeLessThanOrEqual(sockets + 2) // the consumer's attempts
    const asked = performance.now()
    await expect(log.endOffsets()).rejects.toMatchObject({ code: 'event_log_unavailable' })
    expect(performance.now() - asked).toBeLessThan(2900) // before a request is given up, which is after 3 s
    await broker.resume()
    const before = outcomes.acknowledged.size
    await vi.waitFor(() => expect(outcomes.acknowledged.size).toBeGreaterThan(before + 20), patience)
    await outcomes.stop()
    expect(outcomes.slowestMs).toBeLessThan(2 * appendTimeoutMs)
    await expectTruth(live, outcomes)
  })

  /** Every acknowledged record is at its offset and nowhere else, no unavailable one is there; both readers saw all. */
  async function expectTruth(live: RecordingSubscriber, outcomes: Outcomes): Promise<void> {
    const [end = 0] = await log.endOffsets()
    const later = await RecordingSubscriber.on(log)
    for (const reader of [later, live]) {
      await vi.waitFor(() => expect(reader.of(0).at(-1)?.next).toBe(end), patience)
    }
    const found = later.records(0).map(({ offset, value }) => ({ offset, value: String(value) }))
    for (const [value, offset] of outcomes.acknowledged) {
      expect(found.filter((record) => record.value === value)).toEqual([{ offset, value }])
    }
    expect(found.filter(({ value }) => outcomes.unavailable.has(value))).toEqual([])
    expect(found).toHaveLength(end)
    expect(new Set(live.values(0))).toEqual(new Set(later.values(0)))
  }
})

/** Appends one record after the other to partition 0 and keeps what became of each. */
class Outcomes {
  readonly acknowledged = new Map<string, Offset>()
  readonly unavailable = new Set<string>()
  readonly unknown = new Set<string>()
  slowestMs = 0
  #stopped = false
  readonly #appending: Promise<void>

  constructor(log: EventLog) {
    this.#appending = this.#append(log)
    onTestFinished(() => this.stop())
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#appending
  }

  async #append(log: EventLog): Promise<void> {
    for (let number = 0; !this.#stopped; number++) {
      await nextTurn() // an append that is refused at once must not keep the test from stopping
      const value = `record ${number}`
      const started = performance.now()
      try {
        this.acknowledged.set(value, await log.append(0, records(value)))
      } catch (error) {
        const { code } = error as { code?: string }
        if (code === 'event_log_unavailable') this.unavailable.add(value)
        else if (code === 'append_outcome_unknown') this.unknown.add(value)
        else throw error
      }
      this.slowestMs = Math.max(this.slowestMs, performance.now() - started)
    }
  }
}

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length
}
