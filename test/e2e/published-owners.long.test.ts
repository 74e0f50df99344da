import { expect, it, vi } from 'vitest'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import type { Kept } from '../brokers/held-requests.ts'
import { asAdmin } from '../brokers/topics.ts'
import { shared } from '../lib/when-done.ts'
import { Client, createMany, inParallel } from './client.ts'
import {
  addUntil,
  endTransaction,
  groupRequests,
  initProducerId,
  produceEvents,
  startHeldBrokers,
  steps,
  type Way,
} from './held-kafka.ts'
import {
  deleteBesideService,
  expectPublished,
  idsOf,
  patience,
  publishedOf,
  publishingOf,
  untilFailing,
  untilPublishing,
} from './published-topic.ts'
import { startService, stop } from './service.ts'
import type { Topic } from './topic.ts'

const unwaited = { prefer: 'wait=0' }

/** Where the partitions of the first lane of three end: the end of a transaction has an offset too. */
async function endOfLane({ KAFKA_BROKERS, KAFKA_TOPIC }: Topic): Promise<number> {
  const ends = await asAdmin(KAFKA_BROKERS, (admin) => admin.fetchTopicOffsets(KAFKA_TOPIC))
  return ends.filter(({ partition }) => partition % 3 === 0).reduce((sum, { high }) => sum + Number(high), 0)
}

describeWithLocalBrokers('who publishes', () => {
  const started = shared(() => startHeldBrokers(2))

  it('may be killed at each step of a transaction', async () => {
    const { ways, newEnvironment } = started()
    async function killedAtEach(kept: Kept, way: Way): Promise<void> {
      const environment = newEnvironment()
      const client = new Client(await startService(environment))
      const pets = await createMany(client, 12)
      for (const kind of steps) {
        const { arrived, release } = way.hold(kept, kind)
        const victim = await startService({ ...environment, KAFKA_BROKERS: way.brokers })
        pets.push(...(await addUntil(client, arrived)))
        await victim.end('SIGKILL')
        release()
      }
      await expectPublished(environment, client, idsOf(pets))
    }
    const [first, next] = ways as [Way, Way]
    await Promise.all([killedAtEach('request', first), killedAtEach('answer', next)])
  })

  it('goes on until the next one has fenced it, also where its group has given it up and Kafka is away', async () => {
    const { kafka, ways, newEnvironment } = started()
    const [wayOfFirst, wayOfNext] = ways as [Way, Way]
    const environment = newEnvironment()
    const first = await startService({ ...environment, KAFKA_BROKERS: wayOfFirst.brokers })
    await untilPublishing(first)
    const group = wayOfFirst.hold('request', ...groupRequests)
    const fence = wayOfNext.hold('request', initProducerId)
    const next = await startService({ ...environment, KAFKA_BROKERS: wayOfNext.brokers })
    await fence.arrived
    const client = new Client(next)
    const pets = await createMany(client, 24)
    await expectPublished(environment, client, idsOf(pets))
    await kafka.pause()
    await untilFailing(first)
    await kafka.resume()
    pets.push(...(await createMany(client, 24)))
    await expectPublished(environment, client, idsOf(pets))
    fence.release()
    await untilPublishing(next)
    group.release()
    pets.push(...(await createMany(client, 24)))
    await expectPublished(environment, client, idsOf(pets))
  })

  it('may lose lanes to another one while a transaction of theirs is under way', async () => {
    const { ways, newEnvironment } = started()
    const way = ways[0] as Way
    const environment = newEnvironment()
    const first = await startService({ ...environment, KAFKA_BROKERS: way.brokers })
    await untilPublishing(first)
    const client = new Client(first)
    const pets = await createMany(client, 12)
    const { arrived, release } = way.hold('request', endTransaction)
    pets.push(...(await addUntil(client, arrived)))
    const next = await startService(environment)
    const lanesOf = async () => (await publishingOf(next)).publishers[0]?.lanes
    await vi.waitFor(async () => expect(await lanesOf()).not.toEqual([]), patience)
    pets.push(...(await createMany(client, 12)))
    release()
    await expectPublished(environment, client, idsOf(pets))
  })

  it('may stand still in a transaction until another has all, and wake up', async () => {
    const { ways, newEnvironment } = started()
    const way = ways[0] as Way
    const environment = newEnvironment()
    const paused = await startService({ ...environment, KAFKA_BROKERS: way.brokers })
    await untilPublishing(paused)
    const other = await startService(environment)
    const client = new Client(other)
    const pets = await createMany(client, 12)
    await expectPublished(environment, client, idsOf(pets))
    const { arrived, release } = way.hold('request', endTransaction)
    pets.push(...(await addUntil(client, arrived)))
    paused.signal('SIGSTOP')
    await untilPublishing(other)
    await expectPublished(environment, client, idsOf(pets))
    release()
    paused.signal('SIGCONT')
    pets.push(...(await createMany(client, 12)))
    await stop(other)
    await untilPublishing(paused)
    const again = new Client(paused)
    pets.push(...(await createMany(again, 12)))
    await expectPublished(environment, again, idsOf(pets))
  })

  it('may stand still until Kafka ends its transaction', async () => {
    const { ways, newEnvironment } = started()
    const way = ways[0] as Way
    const environment = newEnvironment()
    const owner = await startService({ ...environment, KAFKA_BROKERS: way.brokers })
    const client = new Client(owner)
    const pets = await createMany(client, 12)
    await expectPublished(environment, client, idsOf(pets))
    const { arrived, release } = way.hold('request', { ...endTransaction, about: '.events-0' })
    pets.push(...(await addUntil(client, arrived)))
    owner.signal('SIGSTOP')
    const open = await endOfLane(publishedOf(environment))
    await vi.waitFor(async () => expect(await endOfLane(publishedOf(environment))).toBeGreaterThan(open), patience)
    release()
    owner.signal('SIGCONT')
    pets.push(...(await createMany(client, 12)))
    await expectPublished(environment, client, idsOf(pets))
  })

  it('may be killed just after it wrote to a topic that was made anew', async () => {
    const { ways, newEnvironment } = started()
    const way = ways[0] as Way
    const environment = newEnvironment()
    const victim = await startService({ ...environment, KAFKA_BROKERS: way.brokers })
    const pets = await createMany(new Client(victim), 24)
    await expectPublished(environment, new Client(victim), idsOf(pets))
    const { arrived, release } = way.hold('answer', produceEvents)
    await deleteBesideService(publishedOf(environment))
    await arrived
    await victim.end('SIGKILL')
    release()
    const client = new Client(await startService(environment))
    pets.push(...(await createMany(client, 24)))
    await expectPublished(environment, client, idsOf(pets))
  })

  it('may wake up with all others, and nobody keeps another from it', async () => {
    const { kafka, newEnvironment } = started()
    const environment = newEnvironment()
    const both = await Promise.all([startService(environment), startService(environment)])
    const client = new Client(await startService({ ...environment, ROLE: 'api' }))
    const pets = await createMany(client, 12)
    const group = `${environment.KAFKA_TOPIC}.projector.publish-events`
    const members = () =>
      asAdmin(kafka.brokers, async (admin) => (await admin.describeGroups([group])).groups[0]?.members)
    for (let round = 0; round < 2; round++) {
      for (const each of both) each.signal('SIGSTOP')
      await vi.waitFor(async () => expect(await members()).toEqual([]), patience)
      pets.push(...(await inParallel(24, 8, (i) => client.create(`asleep ${i}`, 'available', unwaited))))
      for (const each of both) each.signal('SIGCONT')
      pets.push(...(await createMany(client, 12)))
      await expectPublished(environment, client, idsOf(pets))
    }
  })
})
