import { randomUUID } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { apiKey, Client } from '../e2e/client.ts'
import { whenDone } from '../lib/when-done.ts'
import { docker, makeVolume } from './docker.ts'
import { Build, podOf } from './manifests.ts'
import { type Cluster, Pod } from './pod.ts'
import { keyFile, MountedSecret } from './secret.ts'

const build = new Build('embedded')
const deployment = build.deployment('petstore')
const patience = { timeout: 60_000, interval: 50 }

async function newCluster(): Promise<Cluster> {
  const volume = `petstore-claim-${randomUUID().slice(0, 8)}`
  await makeVolume(volume, podOf(deployment).securityContext.fsGroup)
  whenDone(() => docker('volume', 'rm', '--force', volume))
  const secrets = { 'petstore-api-keys': new MountedSecret(keyFile(apiKey)) }
  return { build, secrets, volumes: { 'petstore-data': volume } }
}

const start = (cluster: Cluster) => Pod.start(deployment, cluster)

async function untilReady(pod: Pod): Promise<void> {
  await vi.waitFor(async () => expect(pod.isReady, await pod.logs()).toBe(true), patience)
}

it('a drain ends it in time, and the next pod has every pet that was acknowledged', async () => {
  const cluster = await newCluster()
  const first = await start(cluster)
  await untilReady(first)
  const client = new Client(first)
  const acknowledged: number[] = []
  let isUp = true
  const adding = Array.from({ length: 8 }, async () => {
    while (isUp) {
      const answer = await client.post({ name: 'Rex', categoryId: 1 }).catch(() => undefined)
      if (answer?.status === 201) acknowledged.push((answer.body as { id: number }).id)
      else isUp = false
    }
  })
  await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(500), patience)

  const { code, isKilled, seconds } = await first.terminate()
  await Promise.all(adding)
  expect({ code, isKilled }, await first.logs()).toEqual({ code: 0, isKilled: false })
  expect(first.restarts).toEqual([])
  const next = await start(cluster)
  await untilReady(next)
  const there = new Set((await new Client(next).list()).map(({ id }) => id))
  expect(acknowledged.filter((id) => !there.has(id))).toEqual([])
  process.stdout.write(`drained in ${seconds.toFixed(1)} s, with ${acknowledged.length} pets\n`)
})

it('a second pod on the volume stops and says why, and the first one goes on', async () => {
  const cluster = await newCluster()
  const first = await start(cluster)
  await untilReady(first)
  const second = await start(cluster)
  expect(await second.ended()).toBe(1)
  expect(await second.logs()).toMatch(/Another server is using/)
  expect((await new Client(first).request('/v1/pets')).status).toBe(200)
  expect(first.restarts).toEqual([])
})

it('follows the keys of its Secret while it runs', async () => {
  const cluster = await newCluster()
  const pod = await start(cluster)
  await untilReady(pod)
  const [old, issued] = [apiKey, 'another-key-of-the-tests'].map((key) => new Client(pod, key))
  const statuses = async () => [(await old?.request('/v1/pets'))?.status, (await issued?.request('/v1/pets'))?.status]
  expect(await statuses()).toEqual([200, 401])
  for (const [keys, expected] of [
    [
      ['another-key-of-the-tests', apiKey],
      [200, 200],
    ],
    [['another-key-of-the-tests'], [401, 200]],
  ] as const) {
    cluster.secrets['petstore-api-keys']?.change(keyFile(...keys))
    await vi.waitFor(async () => expect(await statuses()).toEqual(expected), { timeout: 5000, interval: 50 })
  }
  const logs = await pod.logs()
  expect(logs).not.toContain('cannot be read')
  expect(logs).toContain('"audit":"key issued"')
  expect(logs).toContain('"audit":"key revoked"')
  expect(pod.restarts).toEqual([])
})
