import { expect, it, vi } from 'vitest'
import { petStreams } from '../../src/app/petstore.ts'
import type { describeGenerations } from '../../src/cli/generations.ts'
import type { Generation } from '../../src/read-models/generations.ts'
import type { ReadModelStore } from '../../src/read-models/store.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, outcomeOf } from './client.ts'
import { MixedLoad } from './mixed-load.ts'
import { SeededPets } from './seeded-pets.ts'
import {
  brokerEnvironment,
  type Environment,
  expectVerified,
  petstoreJson,
  type Roles,
  startRoles,
  startService,
  startUnready,
  untilReady,
} from './service.ts'
import { openActiveKeys, openStore, storedVersion } from './stored-state.ts'

const patience = { timeout: 60_000, interval: 50 }
/** Within it, and well so, the old release is started again. */
const graceSeconds = 15

type Brokers = ReturnType<typeof brokerEnvironment>

const [pets, ...others] = petStreams.projections
const nextProjections = [{ name: 'pets', version: (pets?.version ?? 0) + 1 }, ...others]
const preload = new URL('./next-release.ts', import.meta.url).href

function inCapitals(documents: string): string {
  return documents.replace(/(?<="name":")[^"]*/g, (name) => name.toUpperCase())
}

/** What `petstore generations` tells. */
function stored(environment: Environment): ReturnType<typeof describeGenerations> {
  return petstoreJson(environment, 'generations')
}

async function stop({ apis, projector }: Roles): Promise<void> {
  const codes = await Promise.all([...apis, projector].map((service) => service.end('SIGTERM')))
  expect(codes).toEqual([0, 0, 0])
}

/** Nobody builds its read models yet; then they are as a projector leaves them that is killed as soon as it has begun. */
async function expectUnready(client: Client, store: ReadModelStore, begun: Generation): Promise<void> {
  const readiness = () => client.request('/readyz')
  expect(await readiness()).toMatchObject({ status: 503 })
  await store.generations.start(begun, undefined)
  const checks = { readModels: { status: 'rebuilding', generation: begun.name } }
  await vi.waitFor(async () => expect(await readiness()).toMatchObject({ status: 503, body: { checks } }), patience)
  expect(outcomeOf(await client.get(1))).toBe('503 read_model_rebuilding')
}

/** No process of the old release runs any more. */
async function expectRemoved(environment: Brokers, store: ReadModelStore): Promise<void> {
  const oldVersion = await storedVersion(environment)
  const nextVersion = await storedVersion(environment, nextProjections)
  const { redis, keys } = await openActiveKeys(environment)
  const old = (await store.generations.versions()).find(({ version }) => version === oldVersion)
  expect(old).toBeDefined()
  await stored(environment)
  expect(await store.generations.versions()).toContainEqual(old) // to look at it is not to use it
  const isGone = async () => expect(await store.generations.versions()).toMatchObject([{ version: nextVersion }])
  await vi.waitFor(isGone, patience)
  const prefix = keys.checkpoints.slice(0, keys.checkpoints.indexOf('}') + 1)
  expect(await redis.keys(`${prefix}*`)).toEqual([])
}

describeWithBrokers('a rolling deploy', (brokers) => {
  it('to another version and back shows nobody an answer that is wrong, lacks a pet or is old', async () => {
    const environment = { ...brokerEnvironment(brokers), READ_MODEL_GRACE_SECONDS: String(graceSeconds) }
    const nextEnvironment = { ...environment, NODE_OPTIONS: `--import=${preload}` }
    const seeded = new SeededPets(500)
    await seeded.append(environment)
    const old = await startRoles(environment)
    const load = new MixedLoad(old.apis, seeded)
    await load.until(20)
    const [oldVersion, nextVersion] = [
      await storedVersion(environment),
      await storedVersion(environment, nextProjections),
    ]
    const oldStore = await openStore(environment)
    const before = await oldStore.generations.active()

    const begun = { name: 'begun', logId: before?.logId ?? '' }
    const api = await startUnready({ ...nextEnvironment, ROLE: 'api' })
    await expectUnready(new Client(api), await openStore(environment, nextVersion), begun)
    await startService({ ...nextEnvironment, ROLE: 'projector' })
    await untilReady(api)
    const next = { ...api, shows: inCapitals }
    await load.turnTo([...old.apis, next])
    await load.until(20)
    const { generations } = await stored(nextEnvironment)
    expect(generations).toMatchObject([
      { version: nextVersion, name: begun.name, state: 'active', lag: expect.any(Number) },
      { version: oldVersion, name: before?.name, state: 'active', lag: expect.any(Number) },
    ])
    for (const { documents } of generations) expect(documents?.pets).toBeGreaterThan(seeded.count)
    await load.turnTo([next])
    await stop(old)

    // Rolled back: it goes on with the read models that it left.
    const again = await startRoles(environment)
    await load.turnTo([next, ...again.apis])
    expect(await oldStore.generations.active()).toEqual(before)
    await load.until(20)
    await load.turnTo([next])
    await stop(again)

    await expectRemoved(environment, oldStore)
    expect((await load.expectTrue()).count(/^5/)).toBe(0)
    await expectVerified(nextEnvironment)
  })

  it('to another number of shards is seen by both releases', async () => {
    const environment = brokerEnvironment(brokers)
    const nextEnvironment = { ...environment, READ_MODEL_SHARDS: '2' }
    await new SeededPets(100).append(environment)
    await Promise.all([environment, nextEnvironment].map((each) => startService(each)))
    const oldVersion = await storedVersion(environment)
    const shards = [`${oldVersion}.s2-0`, `${oldVersion}.s2-1`]
    for (const [each, own] of [[environment, [oldVersion]] as const, [nextEnvironment, shards] as const]) {
      const { versions, generations } = await stored(each)
      expect(versions.flatMap(({ version, isOwn }) => (isOwn ? [version] : [])).sort()).toEqual(own)
      expect(generations.map(({ version }) => version).sort()).toEqual([oldVersion, ...shards])
      expect(generations.map(({ lag }) => lag)).toEqual([0, 0, 0])
      expect(generations.reduce((sum, { documents }) => sum + (documents?.pets ?? 0), 0)).toBe(200)
    }
  })
})
