import { expect, it, vi } from 'vitest'
import { type DescribedPublisher, fillingOf } from '../../src/engine/operations/published.ts'
import { describeWithBrokers, describeWithOwnBrokers } from '../brokers/describe.ts'
import { deleteTopics } from '../brokers/topics.ts'
import { Client, createMany } from './client.ts'
import { collections, documentTopicOf } from './document-topics.ts'
import { expectPublished, idsOf, patience, publishedOf, untilWarned } from './published-topic.ts'
import { brokerEnvironment, petstore, petstoreJson, startOwnBrokers, startService } from './service.ts'
import { produce, readTopic } from './topic.ts'

describeWithBrokers('petstore published', (brokers) => {
  it('lists lanes, owners and lag beside the service, which goes on', async () => {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    const client = new Client(service)
    const pets = await createMany(client, 30)
    const list = async (): Promise<DescribedPublisher[]> => petstoreJson(environment, 'published')
    await vi.waitFor(async () => {
      const [described, documents] = await list()
      const partitions = described?.lanes.flatMap((lane) => lane.partitions) ?? []
      expect(partitions.map(({ partition }) => partition).toSorted()).toEqual([0, 1, 2, 3, 4, 5])
      expect(partitions.reduce((sum, { told }) => sum + told, 0)).toBe(30)
      expect(partitions.reduce((sum, { lag }) => sum + lag, 0)).toBe(0)
      expect(described?.lanes.map(({ owner }) => owner)).toEqual([0, 1, 2].map(() => expect.stringMatching(/\w/)))
      expect(described).toMatchObject({ publisher: 'events', missing: [], warnings: [] })
      const topics = collections.map((each) => documentTopicOf(environment, each).KAFKA_TOPIC)
      expect(documents).toMatchObject({ publisher: 'documents', topics, missing: [], warnings: [] })
      const filled = documents?.lanes.flatMap((lane) => lane.partitions.map((each) => fillingOf('documents', each)))
      expect(filled).toEqual(Array(6).fill(undefined))
    }, patience)
    const before = service.output().length // a new broker has no coordinator of transactions at first
    // Looked at again and again while it goes on: nothing that is on its way is taken for standing still.
    const looks = Promise.all([0, 1, 2].map(() => petstore(environment, 'published')))
    const more = await createMany(client, 300)
    for (const { code, output } of await looks) {
      expect([code, output]).toEqual([0, expect.stringMatching(/^PUBLISHER +LANE +OWNER +PARTITION +POSITION +TOLD/)])
      expect(output).toContain(`delete ${publishedOf(environment).KAFKA_TOPIC}: it comes back`)
      expect(output).toMatch(
        /^To begin anew with documents, .*\.documents\.categories: they come back from the read models/m,
      )
    }
    await expectPublished(
      environment,
      client,
      [...pets, ...more].map(({ id }) => id),
    )
    expect(service.output().slice(before)).not.toContain('taking the lane over again')
  })

  it('says what stands still as the service does, whether that runs or not, and makes nothing', async () => {
    const environment = brokerEnvironment(brokers)
    const published = publishedOf(environment)
    const service = await startService(environment)
    const pets = await createMany(new Client(service), 12)
    await expectPublished(environment, new Client(service), idsOf(pets))
    expect(await service.end('SIGTERM')).toBe(0)

    const [described]: DescribedPublisher[] = await petstoreJson(environment, 'published')
    const told = described?.lanes.flatMap(({ lane, partitions }) => partitions.map((each) => ({ ...each, lane })))
    const { partition = 0, lane } = told?.find((each) => each.told > 0) ?? {}
    await produce(published, [{ partition, key: '1', value: 'of a stranger' }])
    const { code, output } = await petstore(environment, 'published')
    expect(code).toBe(1)
    expect(output).toMatch(new RegExp(`^events +${lane} +nobody +${partition} .*stands still$`, 'm'))
    expect(output.match(/stands still$/gm)).toHaveLength(1)
    const reason = `partition ${partition}: Topic ${published.KAFKA_TOPIC} has a record at offset`
    expect(output).toMatch(new RegExp(`^events, ${reason} .*another program writes here`, 'm'))
    expect(output).toContain("See 'Publishing stands still' in the runbook.")

    const again = await startService(environment)
    expect(await untilWarned(again, 'publishing_stands_still')).toMatch(/another program writes/)
    expect(await again.end('SIGTERM')).toBe(0)

    await deleteTopics(brokers.kafkaBrokers, published.KAFKA_TOPIC)
    const deleted = await petstore(environment, 'published')
    expect([deleted.code, deleted.output]).toEqual([0, expect.stringContaining('a process that publishes makes it')])
    await expect(readTopic(published)).rejects.toThrow()
    const anew = await startService(environment)
    await expectPublished(environment, new Client(anew), idsOf(pets))
  })
})

describeWithOwnBrokers('a process that publishes', () => {
  it('ends by itself within its time where no broker answers', async () => {
    const { kafka, environment } = await startOwnBrokers()
    const service = await startService(environment)
    const client = new Client(service)
    const [pet] = await createMany(client, 1)
    await expectPublished(environment, client, [pet?.id ?? 0])
    await kafka.pause()
    expect(await service.end('SIGTERM')).toBe(0)
    await kafka.resume()
  })
})
