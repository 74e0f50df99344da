import { expect, it, vi } from 'vitest'
import type { describeGenerations } from '../../src/engine/operations/generations.ts'
import type { Generation } from '../../src/engine/read-models/ports/generations.ts'
import type { ReadModelStore } from '../../src/engine/read-models/ports/store.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import type { Exchange } from '../judge/history.ts'
import { petstore } from '../store/petstore.ts'
import { Client, createMany, expectExactly, outcomeOf, type Pet } from './client.ts'
import { buying, Load, type WorkOf } from './load.ts'
import {
  brokerEnvironment,
  type Environment,
  petstoreJson,
  type ServiceProcess,
  startService,
  startUnready,
  stop,
  untilReady,
} from './service.ts'
import { openActiveKeys, openStore, storedVersion } from './stored-state.ts'
import { browsing, fillWithPets, looking, mixing } from './workloads.ts'

const patience = { timeout: 60_000, interval: 50 }

type Brokers = ReturnType<typeof brokerEnvironment>

const nextRelease = petstore.version.replace(/^pets-\d+/, `pets-${(petstore.stream.projections[0]?.version ?? 0) + 1}`)
const preload = new URL('./next-release.ts', import.meta.url).href
const preloadIndex = new URL('./next-index.ts', import.meta.url).href

/** As `buying`, but nothing depends on a tag: that of one release is unknown to the other. */
const buyingAnyway: WorkOf = (random) => {
  const work = buying(random)
  return { act: () => work.act(), tell: ({ tag: _, ...answer }) => work.tell?.(answer) }
}

/** The second member of each pet that a process has shown: the releases write them in another order. */
function secondMembers({ told }: Load, { url }: ServiceProcess): Set<string | undefined> {
  const shown = told.filter(({ instance, operation }) => instance === url && /^(get|list)Pets?$/.test(operation))
  return new Set(shown.flatMap(({ body = [] }) => [body as object].flat().map((pet) => Object.keys(pet)[1])))
}

/** What its release answered is of read models of its own. */
function ofRelease({ url }: ServiceProcess) {
  return (exchange: Exchange): Exchange => (exchange.instance === url ? { ...exchange, readModels: 'next' } : exchange)
}

/** What `petstore generations` tells. */
function stored(environment: Environment): ReturnType<typeof describeGenerations> {
  return petstoreJson(environment, 'generations')
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

/** No process of the old release runs any more; nor does any of another log, whose read models are spared. */
async function expectRemoved(environment: Brokers, otherLog: Brokers, store: ReadModelStore): Promise<void> {
  const oldVersion = await storedVersion(environment)
  const nextVersion = await storedVersion(environment, nextRelease)
  const { redis, keys } = await openActiveKeys(environment)
  const findOld = async () => (await store.generations.versions()).find(({ version }) => version === oldVersion)
  const old = await findOld()
  expect(old).toBeDefined()
  await stored(environment)
  expect((await findOld()) ?? old).toEqual(old) // to look at it is not to use it
  const left = [nextVersion, await storedVersion(otherLog)].sort()
  const versions = async () => (await store.generations.versions()).map(({ version }) => version).sort()
  await vi.waitFor(async () => expect(await versions()).toEqual(left), patience)
  const prefix = keys.checkpoints.slice(0, keys.checkpoints.indexOf('}') + 1)
  expect(await redis.keys(`${prefix}*`)).toEqual([])
}

describeWithBrokers('a rolling deploy', (brokers) => {
  it('to another version and back shows nobody an answer that is wrong, lacks a pet or is old', async () => {
    const environment = { ...brokerEnvironment(brokers), READ_MODEL_GRACE_SECONDS: '5' } // the shortest there is
    const nextEnvironment = { ...environment, NODE_OPTIONS: `--import=${preload}` }
    const standing = await fillWithPets(environment, 500)
    const otherLog = { ...environment, KAFKA_TOPIC: `${environment.KAFKA_TOPIC}.other` }
    const other = await startService(otherLog)
    const petsThere = await createMany(new Client(other), 10)
    expect(await other.end('SIGTERM')).toBe(0)
    const old = await startService(environment)
    const load = new Load([old], 6, mixing(buyingAnyway, looking, browsing(standing)))
    load.follow(2)
    const untilMore = () => load.until(100, 200, 'getPet')
    await untilMore()
    const [oldVersion, nextVersion] = [await storedVersion(environment), await storedVersion(environment, nextRelease)]
    const oldStore = await openStore(environment)
    const before = await oldStore.generations.active()

    const begun = { name: 'begun', logId: before?.logId ?? '' }
    const next = await startUnready({ ...nextEnvironment, ROLE: 'api' })
    await expectUnready(new Client(next), await openStore(environment, nextVersion), begun)
    await startService({ ...nextEnvironment, ROLE: 'projector' })
    await untilReady(next)
    load.turnTo([old, next])
    await untilMore()
    const { generations: all } = await stored(nextEnvironment)
    const generations = all.filter(({ lag }) => lag !== undefined) // that of the other log has none
    expect(generations).toMatchObject([
      { version: nextVersion, name: begun.name, state: 'active', lag: expect.any(Number) },
      { version: oldVersion, name: before?.name, state: 'active', lag: expect.any(Number) },
    ])
    for (const { documents } of generations) expect(documents?.pets).toBeGreaterThan(standing.length)
    load.turnTo([next])
    await stop(old)

    // Rolled back: it goes on with the read models that it left. However long it takes to start, it is within the grace.
    const renewing = setInterval(() => oldStore.generations.renew(), 500)
    const again = await startService(environment)
    clearInterval(renewing)
    load.turnTo([next, again])
    expect(await oldStore.generations.active()).toEqual(before)
    await untilMore()
    load.turnTo([next])
    await stop(again)

    await expectRemoved(environment, otherLog, oldStore)
    const there = await startService(otherLog)
    expect(there.output()).not.toContain('building read models')
    await expectExactly(new Client(there), petsThere)
    await load.expectTrue(nextEnvironment, ofRelease(next))
    expect(load.failed).toEqual([])
    expect([old, next, again].map((service) => secondMembers(load, service))).toEqual([
      new Set(['name']),
      new Set(['status']),
      new Set(['name']),
    ])
  })

  it('that adds an index finds every pet by it as soon as it is ready, while others change', async () => {
    const environment = brokerEnvironment(brokers)
    const nextEnvironment = { ...environment, NODE_OPTIONS: `--import=${preloadIndex}` }
    const standing = await fillWithPets(environment, 500)
    const old = await startService(environment)
    const load = new Load([old], 6, mixing(buyingAnyway, looking, browsing(standing)))
    const untilMore = () => load.until(100, 200, 'getPet')
    await untilMore()
    expect(outcomeOf(await new Client(old).request('/v1/pets?name=Rex'))).toBe('400 invalid_request')

    const next = await startUnready({ ...nextEnvironment, ROLE: 'api' })
    await startService({ ...nextEnvironment, ROLE: 'projector' })
    await untilReady(next)
    load.turnTo([old, next])
    const client = new Client(next)
    const named = async (name: string) => {
      const pages = client.pages<Pet>(`/v1/pets?limit=100&name=${encodeURIComponent(name)}`)
      return (await Array.fromAsync(pages)).flatMap(({ documents }) => documents)
    }
    for (const { id } of standing.slice(0, 50)) {
      const pet = (await client.get(id)).body as Pet
      expect(await named(pet.name)).toContainEqual(pet)
    }
    await untilMore()
    load.turnTo([next])
    await stop(old)
    await load.expectTrue(nextEnvironment, ofRelease(next))
    expect(load.failed).toEqual([])
    const byName = Map.groupBy(await client.list(), ({ name }) => name)
    for (const [name, pets] of byName) expect(await named(name)).toEqual(pets)
  })

  it('to another number of shards is seen by both releases', async () => {
    const environment = brokerEnvironment(brokers)
    const nextEnvironment = { ...environment, READ_MODEL_SHARDS: '2' }
    await fillWithPets(environment, 100)
    await Promise.all([environment, nextEnvironment].map((each) => startService(each)))
    const oldVersion = await storedVersion(environment)
    const shards = [`${oldVersion}.s2-0`, `${oldVersion}.s2-1`]
    await vi.waitFor(async () => expect((await stored(environment)).versions).toHaveLength(3), patience)
    for (const [each, own] of [[environment, [oldVersion]] as const, [nextEnvironment, shards] as const]) {
      const { versions, generations } = await stored(each)
      expect(versions.flatMap(({ version, isOwn }) => (isOwn ? [version] : [])).sort()).toEqual(own)
      expect(generations.map(({ version }) => version).sort()).toEqual([oldVersion, ...shards])
      expect(generations.map(({ lag }) => lag)).toEqual([0, 0, 0])
      expect(generations.reduce((sum, { documents }) => sum + (documents?.pets ?? 0), 0)).toBe(200)
    }
  })
})
