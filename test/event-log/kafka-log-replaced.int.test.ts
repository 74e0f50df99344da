import { afterEach, expect, it, vi } from 'vitest'
import type { EventLog } from '../../src/event-log/event-log.ts'
import type { KafkaLogOptions } from '../../src/event-log/kafka/kafka-boot.ts'
import { openKafkaEventLog } from '../../src/event-log/kafka/kafka-event-log.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { records } from './contract/fixture.ts'
import { logOptions, withAdmin } from './kafka-fixture.ts'

const patience = { timeout: 20_000, interval: 20 }
const unavailable = { code: 'event_log_unavailable' }

describeWithBrokers('a Kafka event log whose topics are made anew', ({ kafkaBrokers: brokers }) => {
  const logs: EventLog[] = []
  afterEach(async () => {
    await Promise.all(logs.splice(0).map((log) => log.close()))
  })
  async function open(options: KafkaLogOptions): Promise<EventLog> {
    const log = await openKafkaEventLog(options)
    logs.push(log)
    return log
  }

  it('is replaced, takes nothing more, and leaves the new log alone', async () => {
    const options = logOptions(brokers)
    const log = await open(options)
    await log.append(0, records('old'))
    await deleteTopics(options)
    const anew = await open(options)
    await log.replaced
    await expect(log.append(0, records('late'))).rejects.toMatchObject(unavailable)
    await expect(log.reserveIdBlock()).rejects.toMatchObject(unavailable)
    await expect(log.endOffsets()).rejects.toMatchObject(unavailable)
    expect(anew.logId).not.toBe(log.logId)
    expect(await anew.endOffsets()).toEqual([0, 0, 0])
    expect(await anew.reserveIdBlock()).toBe(1)
    expect(await Promise.race([anew.replaced, 'still there'])).toBe('still there')
  })

  it('is replaced although the new log has no identity yet, and claims nothing in its place', async ({ signal }) => {
    const options = logOptions(brokers)
    const log = await open(options)
    await deleteTopics(options)
    const claims = claimUntilEnded(log, signal)
    await createTopics(options)
    await log.replaced
    await claims
    expect(await idBlocksEnd(options)).toBe(0)
  })

  it('does not append to the new log, once appends failed while there was none', async () => {
    const options = logOptions(brokers)
    const log = await open(options)
    await deleteTopics(options)
    await expect(log.append(0, records('to none'))).rejects.toThrow()
    const anew = await open(options)
    await expect(log.append(0, records('late'))).rejects.toMatchObject(unavailable)
    expect(await anew.endOffsets()).toEqual([0, 0, 0])
  })

  it('is the same log where only the topic of its events was made anew', async () => {
    const options = logOptions(brokers)
    const log = await open(options)
    await withAdmin(brokers, (admin) => admin.deleteTopics({ topics: [options.topic] }))
    await expect(log.append(0, records('to none'))).rejects.toThrow()
    await withAdmin(brokers, (admin) => admin.createTopics({ topics: [topics(options)[0] as { topic: string }] }))
    await vi.waitFor(async () => expect(await log.append(0, records('again'))).toBe(0), patience)
  })

  /** One claim after the other, until the log says that none will do, or the test is over. */
  async function claimUntilEnded(log: EventLog, signal: AbortSignal): Promise<void> {
    let ended = false
    void log.replaced.then(() => (ended = true))
    while (!ended && !signal.aborted) await expect(log.reserveIdBlock()).rejects.toMatchObject(unavailable)
  }

  async function deleteTopics(options: KafkaLogOptions): Promise<void> {
    const names = topics(options).map(({ topic }) => topic)
    await withAdmin(brokers, async (admin) => {
      await admin.deleteTopics({ topics: names })
      const left = async () => (await admin.listTopics()).filter((topic) => names.includes(topic))
      await vi.waitFor(async () => expect(await left()).toEqual([]), patience)
    })
  }

  async function createTopics(options: KafkaLogOptions): Promise<void> {
    await withAdmin(brokers, (admin) => admin.createTopics({ topics: topics(options) }))
  }

  async function idBlocksEnd({ topic }: KafkaLogOptions): Promise<number> {
    const [only] = await withAdmin(brokers, (admin) => admin.fetchTopicOffsets(`${topic}.id-blocks`))
    return Number(only?.high)
  }
})

function topics({ topic, partitions }: KafkaLogOptions) {
  const configEntries = [{ name: 'retention.ms', value: '-1' }]
  return [
    { topic, numPartitions: partitions, configEntries },
    { topic: `${topic}.id-blocks`, numPartitions: 1, configEntries },
  ]
}
