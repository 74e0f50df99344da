import { expect, it, vi } from 'vitest'
import { Client, outcomeOf } from '../e2e/client.ts'
import { startOwnBrokers } from '../e2e/service.ts'
import { containerOf } from './manifests.ts'
import { api, clusterOn, patience, projector, untilReady } from './on-brokers.ts'
import { Pod } from './pod.ts'

const unready = containerOf(api).readinessProbe.failureThreshold

/** Whether each is ready once it had the time to be found unready. */
async function readinessOf(pods: readonly Pod[]): Promise<boolean[]> {
  const goals = pods.map(({ probed }) => probed.readiness.length + unready + 1)
  await vi.waitFor(() => {
    for (const [index, { probed }] of pods.entries())
      expect(probed.readiness.length).toBeGreaterThanOrEqual(goals[index] as number)
  }, patience)
  return pods.map(({ isReady }) => isReady)
}

it('without Redis, without Kafka and without both, each pod is as documented, and none is restarted', async () => {
  const { kafka, redis, environment } = await startOwnBrokers()
  const cluster = clusterOn(environment)
  const pods = await Promise.all([Pod.start(projector, cluster), Pod.start(api, cluster)])
  await untilReady(pods)
  const client = new Client(pods[1])
  await client.create('Rex')
  const list = async () => outcomeOf(await client.request('/v1/pets'))
  const add = async () => outcomeOf(await client.post({ name: 'Ada', categoryId: 1 }, { prefer: 'wait=0' }))

  for (const [leave, comeBack] of [
    ['kill', 'start'],
    ['pause', 'resume'],
  ] as const) {
    await redis[leave]()
    expect(await readinessOf(pods), `Redis: ${leave}`).toEqual([true, true])
    expect([await list(), await add()]).toEqual(['503 read_model_unavailable', '201'])
    await redis[comeBack]()
    await vi.waitFor(async () => expect(await list()).toBe('200'), patience)
  }

  // One that stands still is the harder case: connections stay open, and requests wait for their time to be up.
  await kafka.pause()
  expect(await readinessOf(pods), 'Kafka').toEqual([true, true])
  expect(await list()).toBe('200')
  expect(await add()).toMatch(/^(503 event_log_unavailable|504 append_outcome_unknown)$/)
  await kafka.resume()
  await vi.waitFor(async () => expect(await add()).toBe('201'), patience)

  await Promise.all([kafka.kill(), redis.kill()])
  await untilReady(pods, false)
  const late = await Pod.start(api, cluster)
  await vi.waitFor(() => expect(late.probed.startup.length).toBeGreaterThan(3), patience)
  expect(late.probed.startup).not.toContain(true)
  await Promise.all([kafka.start(), redis.start()])
  await untilReady([...pods, late])
  expect(await list()).toBe('200')

  for (const { probed, restarts } of [...pods, late]) {
    expect(restarts).toEqual([])
    expect(probed.liveness).not.toContain(false)
    expect(probed.liveness).toContain(true)
  }
})
