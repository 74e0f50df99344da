import { expect, it, onTestFinished, vi } from 'vitest'
import type { EventLog } from '../../../../src/engine/log/event-log.ts'
import type { KafkaLogOptions } from '../../../../src/engine/log/kafka/log-part-options.ts'
import { describeWithBrokers } from '../../../brokers/describe.ts'
import { asAdmin, createTopics, deleteTopics } from '../../../brokers/topics.ts'
import { patience, records } from '../contract/fixture.ts'
import { logOptions, openKafkaLog, produce, topicsOf } from './kafka-fixture.ts'

const unavailable = { code: 'event_log_unavailable' }

describeWithBrokers('a Kafka event log whose topics are made anew', ({ kafkaBrokers: brokers }) => {
  async function openNew() {
    const options = logOptions(brokers)
    const topics = topicsOf(options).map(({ topic }) => topic)
    return { options, topics, log: await openKafkaLog(options) }
  }

  it('is replaced, takes nothing more, and leaves the new log alone', async () => {
    const { options, topics, log } = await openNew()
    await log.append(0, records('old'))
    await deleteTopics(brokers, ...topics)
    const anew = await openKafkaLog(options)
    await log.replaced
    await expect(log.append(0, records('late'))).rejects.toMatchObject(unavailable)
    await expect(log.reserveIdBlock()).rejects.toMatchObject(unavailable)
    await expect(log.endOffsets()).rejects.toMatchObject(unavailable)
    expect(anew.logId).not.toBe(log.logId)
    expect(await anew.endOffsets()).toEqual([0, 0, 0])
    expect(await anew.reserveIdBlock()).toBe(1)
    expect(await Promise.race([anew.replaced, 'still there'])).toBe('still there')
  })

  it('is replaced even before the new log has an identity, and reserves nothing there', async () => {
    const { options, topics, log } = await openNew()
    await deleteTopics(brokers, ...topics)
    const reservations = untilEnded(log, () => expect(log.reserveIdBlock()).rejects.toMatchObject(unavailable))
    await createTopics(brokers, ...topicsOf(options))
    await log.replaced
    await reservations
    const [idBlocks] = await asAdmin(brokers, (admin) => admin.fetchTopicOffsets(`${options.topic}.id-blocks`))
    expect(idBlocks?.high).toBe('0')
  })

  it('does not append to the new log, once appends failed while there was none', async () => {
    const { options, topics, log } = await openNew()
    await deleteTopics(brokers, ...topics)
    await expect(log.append(0, records('to none'))).rejects.toThrow()
    const anew = await openKafkaLog(options)
    await expect(log.append(0, records('late'))).rejects.toMatchObject(unavailable)
    expect(await anew.endOffsets()).toEqual([0, 0, 0])
  })

  it('is replaced where only the topic of its events was made anew, which gets none of its records', async () => {
    const { options, log } = await openNew()
    await log.append(0, records('old'))
    expect(await log.endOffsets()).toEqual([1, 0, 0])
    const [events] = topicsOf(options)
    await deleteTopics(brokers, events.topic)
    await expect(log.append(0, records('to none'))).rejects.toThrow()
    await expect(log.endOffsets()).rejects.toMatchObject(unavailable)
    const appends = untilEnded(log, () => expect(log.append(0, records('late'))).rejects.toMatchObject(unavailable))
    await createTopics(brokers, events)
    await log.replaced
    await appends
    await expect(log.endOffsets()).rejects.toMatchObject(unavailable)
    const ends = await asAdmin(brokers, (admin) => admin.fetchTopicOffsets(options.topic))
    expect(ends.map(({ high }) => high)).toEqual(['0', '0', '0'])
  })

  it('is replaced where the topic of its events was made anew and has others by then, and nothing confirms it', async () => {
    const { options, log } = await openNew()
    await log.append(0, records('old', 'and older'))
    await vi.waitFor(async () => expect(await hasNotedEvents(options)).toBe(true), patience)
    const [events] = topicsOf(options)
    await deleteTopics(brokers, events.topic)
    await createTopics(brokers, events)
    await produce(brokers, options.topic, { key: 'key', value: 'of another', partition: 0 })
    await expect(log.append(0, records('late'))).rejects.toMatchObject({
      code: expect.stringMatching(/^(event|append)_/),
    })
    await expect(log.confirm()).rejects.toMatchObject(unavailable)
    await log.replaced
    await expect(log.endOffsets()).rejects.toMatchObject(unavailable)
  })

  it('is the same log where only the topic of its events was made anew, and had none', async () => {
    const { options, log } = await openNew()
    const [events] = topicsOf(options)
    await deleteTopics(brokers, events.topic)
    await expect(log.append(0, records('to none'))).rejects.toThrow()
    await createTopics(brokers, events)
    await vi.waitFor(async () => expect(await log.append(0, records('again'))).toBe(0), patience)
  })

  async function hasNotedEvents(options: KafkaLogOptions): Promise<boolean> {
    const ends = await asAdmin(brokers, (admin) => admin.fetchTopicOffsets(`${options.topic}.id-blocks`))
    return ends[0]?.high === '2'
  }

  /** One after the other, until the log is replaced or the test is over. */
  async function untilEnded(log: EventLog, attempt: () => Promise<void>): Promise<void> {
    let ended = false
    const end = () => {
      ended = true
    }
    onTestFinished(end)
    void log.replaced.then(end)
    while (!ended) await attempt()
  }
})
