import { expect, it, vi } from 'vitest'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import type { Kept, Kind } from '../brokers/held-requests.ts'
import { asAdmin } from '../brokers/topics.ts'
import { type KafkaUnderFaults, moveLeaders, orderReplicas, untilInSync } from '../campaign/faults/kafka-faults.ts'
import { shared } from '../lib/when-done.ts'
import { Client, createOnce, inParallel } from './client.ts'
import { addUntil, endTransaction, produceEvents, startHeldCluster } from './held-kafka.ts'
import {
  expectAllPublished,
  idsOf,
  patience,
  positionsOf,
  publishedOf,
  publishingOf,
  untilPublishing,
} from './published-topic.ts'
import { type ServiceProcess, startService } from './service.ts'
import { idBlocksOf } from './topic.ts'

/** Resolves to what puts it right again. */
type Harm = (cluster: KafkaUnderFaults) => Promise<() => Promise<unknown>>

const killed =
  (index: number): Harm =>
  async ({ nodes }) => {
    await nodes[index]?.kill()
    return async () => nodes[index]?.start()
  }
const leadersMoved: Harm = async (cluster) => {
  expect(await moveLeaders(cluster)).toBe(true)
  return async () => {}
}

/** What is for one partition has been written, and what is for the others has not. */
const betweenSends: readonly [Kept, Kind] = ['answer', produceEvents]
const atCommit: readonly [Kept, Kind] = ['request', endTransaction]

/** Those of events. */
async function lanesOf(service: ServiceProcess): Promise<readonly number[]> {
  return (await publishingOf(service)).publishers[0]?.lanes ?? []
}

describeWithLocalBrokers('what is published on three brokers', () => {
  const started = shared(async () => {
    const { cluster, way, environment } = await startHeldCluster()
    const service = await startService({ ...environment, KAFKA_BROKERS: way.brokers })
    await untilPublishing(service)
    const topics = [environment, publishedOf(environment), positionsOf(environment)].map((each) => each.KAFKA_TOPIC)
    return {
      way,
      environment,
      service,
      client: new Client(service),
      harmed: { ...cluster, topics },
    }
  })

  // Each of them leads some partitions, and coordinates transactions or the group.
  it.each<[string, readonly [Kept, Kind], Harm]>([
    ['the first broker is killed between two sends', betweenSends, killed(0)],
    ['the second broker is killed at a commit', atCommit, killed(1)],
    ['the third broker is killed between two sends', betweenSends, killed(2)],
    ['leaders move between two sends', betweenSends, leadersMoved],
    ['leaders move at a commit', atCommit, leadersMoved],
  ])('is all, once, where %s', async (name, [kept, kind], harm) => {
    const { way, environment, service, client, harmed } = started()
    const { arrived, release } = way.hold(kept, kind)
    await addUntil(client, arrived)
    const mend = await harm(harmed)
    release()
    try {
      const pets = await inParallel(24, 8, (i) => createOnce(client, `${name} ${i}`))
      await expectAllPublished(environment, client)
      expect(idsOf(await client.list())).toEqual(expect.arrayContaining(pets.map(({ pet }) => pet.id)))
    } finally {
      await mend()
      await untilInSync(harmed)
    }
    await inParallel(12, 8, (i) => createOnce(client, `after ${name} ${i}`))
    await untilPublishing(service)
    await expectAllPublished(environment, client)
  })

  it('is all, once, while the coordinator of the group is away, which is nothing else', async () => {
    const { environment, service, client, harmed } = started()
    const { brokers, nodes, topics } = harmed
    const offsets = '__consumer_offsets'
    const coordinator = await asAdmin(brokers, async (admin) => {
      const [found] = (await admin.fetchTopicMetadata({ topics: [offsets] })).topics
      expect(found?.partitions).toHaveLength(1)
      return found?.partitions[0]?.leader ?? 0
    })
    const others = [...topics, idBlocksOf(environment).KAFKA_TOPIC, '__transaction_state']
    const coordinatorLast = (replicas: readonly number[]) => [
      ...replicas.filter((each) => each !== coordinator),
      ...replicas.filter((each) => each === coordinator),
    ]
    expect(await orderReplicas({ brokers, topics: others }, coordinatorLast)).toBe(true)
    await untilPublishing(service)
    const node = nodes[coordinator - 1]
    await node?.kill()
    try {
      await inParallel(24, 8, (i) => createOnce(client, `without a coordinator ${i}`))
      await expectAllPublished(environment, client)
    } finally {
      await node?.start()
      await untilInSync(harmed)
    }
    const next = await startService(environment)
    await vi.waitFor(async () => {
      const lanes = await Promise.all([service, next].map(lanesOf))
      expect(lanes.flat().toSorted(), 'who was there before is still a member').toEqual([0, 1, 2])
      expect(lanes.map(({ length }) => length).toSorted()).toEqual([1, 2])
    }, patience)
    await inParallel(12, 8, (i) => createOnce(client, `with a coordinator ${i}`))
    await expectAllPublished(environment, client)
  })
})
