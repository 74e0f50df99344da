import { expect, inject, it, vi } from 'vitest'
import { Load } from '../e2e/load.ts'
import { brokerEnvironment } from '../e2e/service.ts'
import { podOf } from './manifests.ts'
import { api, clusterOn, patience, projector } from './on-brokers.ts'
import type { Pod } from './pod.ts'
import { RollOut } from './roll-out.ts'
import { Visitors } from './visitors.ts'

it('a roll-out and a drain end each pod in time, and no client sees an error', async () => {
  const brokers = inject('brokers')
  if (!brokers) throw new Error('there are no brokers')
  const environment = brokerEnvironment(brokers)
  const cluster = clusterOn(environment)
  let endpoints: readonly Pod[] = []
  let load: Load | undefined
  const projectors = new RollOut(projector, cluster)
  const apis = new RollOut(api, cluster, (pods) => {
    endpoints = pods
    load?.turnTo(pods)
  })
  await Promise.all([projectors.scaleTo(1), apis.scaleTo(2)])
  await vi.waitFor(() => expect(endpoints).toHaveLength(2), patience)
  load = new Load(endpoints, 6)
  const visitors = new Visitors(2, () => endpoints[Math.floor(Math.random() * endpoints.length)] as Pod)
  await load.until(200)

  // The new projectors are ready before API processes change. The old ones go on for the time that the manifest gives.
  const begun = performance.now()
  await apis.replaceAll()
  const seconds = (performance.now() - begun) / 1000
  expect(seconds).toBeLessThan(projector.spec.minReadySeconds ?? 0)
  await projectors.replaceAll()
  await load.until(200)
  await apis.drainOne()
  await load.until(200)

  const endings = await Promise.all([...apis.endings, ...projectors.endings])
  expect(endings).toHaveLength(4)
  for (const { code, isKilled } of endings) expect({ code, isKilled }).toEqual({ code: 0, isKilled: false })
  for (const { restarts } of [...apis.started, ...projectors.started]) expect(restarts).toEqual([])
  await visitors.stop()
  expect(visitors.failures).toEqual([])
  expect(visitors.answered).toBeGreaterThan(200)
  expect(load.failed).toEqual([])
  await load.expectTrue(environment)
  const longest = Math.max(...endings.map((ending) => ending.seconds))
  process.stdout.write(
    `rolled out in ${seconds.toFixed(0)} s; ended within ${longest.toFixed(1)} s of ${podOf(api).terminationGracePeriodSeconds} s; ${load.told.length} requests, and ${visitors.answered} on connections of their own\n`,
  )
})
