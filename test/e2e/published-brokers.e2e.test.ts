import { expect, it } from 'vitest'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import type { Kept, Kind } from '../brokers/held-requests.ts'
import { moveLeaders, untilInSync } from '../campaign/faults/kafka-faults.ts'
import { shared } from '../lib/when-done.ts'
import { Client, createOnce, inParallel } from './client.ts'
import { addUntil, endTransaction, produceEvents, startHeldCluster } from './held-kafka.ts'
import { expectAllPublished, idsOf, positionsOf, publishedOf, untilPublishing } from './published-topic.ts'
import { startService } from './service.ts'

type Cluster = Parameters<typeof untilInSync>[0]
/** Resolves to what puts it right again. */
type Harm = (cluster: Cluster) => Promise<() => Promise<unknown>>

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
})
