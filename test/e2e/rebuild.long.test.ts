import { expect, it, vi } from 'vitest'
import type { ReadModelStore } from '../../src/engine/read-models/ports/store.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { shared } from '../lib/when-done.ts'
import { buying, Load } from './load.ts'
import { brokerEnvironment, petstoreOutput, startPetstore, startRoles } from './service.ts'
import { openStore, positionOf } from './stored-state.ts'
import { browsing, fillWithPets, looking, mixing } from './workloads.ts'

const patience = { timeout: 60_000, interval: 1 }
/** Enough of them to see a rebuild on its way. */
const pets = 30_000

describeWithBrokers('petstore rebuild, on 100 partitions, while clients read and write', (brokers) => {
  const world = shared(async () => {
    // Longer than a busy machine takes to start a process, and to let one renew what it builds
    const settings = { KAFKA_PARTITIONS: '100', READ_MODEL_GRACE_SECONDS: '20' }
    const environment = { ...brokerEnvironment(brokers), ...settings }
    const standing = await fillWithPets(environment, pets)
    const { apis } = await startRoles(environment)
    const load = new Load(apis, 6, mixing(buying, looking, browsing(standing)))
    load.follow(2)
    return { environment, store: await openStore(environment), load }
  })

  it('has the new generation take over once it has caught up, also while 48 of them write all they can', async () => {
    const { environment, store, load } = world()
    const leave = load.join(48)
    await load.until(1000)
    const rebuild = startPetstore(environment, 'rebuild', '--json')
    const built = await whenBuilding(store)
    await vi.waitFor(async () => {
      const active = (await activeName(store)) ?? ''
      if (active !== built)
        expect(await positionOf(store, built)).toBeGreaterThanOrEqual(await positionOf(store, active))
    }, patience)
    await vi.waitFor(async () => expect(await activeName(store)).toBe(built), patience)
    expect(await rebuild.ended, rebuild.errors()).toBe(0)
    expect(rebuild.errors()).toContain('"audit":"read models rebuilt","actor":')
    await load.until(300)
    await leave()
  })

  it('run twice at once builds one generation', async () => {
    const { environment, store } = world()
    const before = await names(store)
    const first = startPetstore(environment, 'rebuild')
    const built = await whenBuilding(store)
    process.kill(first.pid, 'SIGSTOP')
    const asked = await builtSince(store)
    const second = startPetstore(environment, 'rebuild')
    await vi.waitFor(async () => expect(await builtSince(store)).toBeGreaterThan(asked), patience)
    process.kill(first.pid, 'SIGCONT')
    for (const { ended, errors } of [first, second]) expect(await ended, errors()).toBe(0)
    expect(await activeName(store)).toBe(built)
    expect((await names(store)).filter((name) => !before.includes(name))).toEqual([built])
  })

  /** Killed with half of it done; resolves to the generation it was building. */
  async function killHalfway(): Promise<string> {
    const { environment, store } = world()
    const rebuild = startPetstore(environment, 'rebuild')
    const built = await whenBuilding(store)
    await vi.waitFor(async () => expect(await positionOf(store, built)).toBeGreaterThan(pets / 2), patience)
    expect(await rebuild.end('SIGKILL')).toBe('SIGKILL')
    return built
  }

  it('killed with kill -9 is gone on with by the next', async () => {
    const { environment, store } = world()
    const left = await killHalfway()
    expect(await activeName(store)).not.toBe(left)
    await petstoreOutput(environment, 'rebuild')
    expect(await activeName(store)).toBe(left)
  })

  it('killed with kill -9, also as the new generation takes over, leaves nothing for longer than the period of grace', async () => {
    const { environment, store } = world()
    const before = await activeName(store)
    const tookOver = whenAnotherIsActive(store)
    const killed = startPetstore(environment, 'rebuild')
    const active = await tookOver
    expect(await killed.end('SIGKILL')).toBe('SIGKILL')
    expect(active).not.toBe(before)
    const left = await killHalfway()
    expect(await names(store)).toContain(left)
    await vi.waitFor(async () => expect(await names(store)).toEqual([active]), patience)
  })

  it('shows nobody an answer that is wrong, lacks a pet, or is older than its token', async () => {
    const { environment, load } = world()
    await load.until(50, 200, 'listPets')
    await load.expectTrue(environment)
    // Taking over is no reason for a 503. But a process that gets no core for long may look too late at who took over.
    const refused = load.told.filter(({ code }) => code === 'read_model_rebuilding')
    expect(refused.length).toBeLessThan(load.told.length / 100)
  })
})

async function activeName(store: ReadModelStore): Promise<string | undefined> {
  return (await store.generations.active())?.name
}

async function names(store: ReadModelStore): Promise<string[]> {
  return (await store.generations.all()).map(({ name }) => name)
}

function whenBuilding(store: ReadModelStore): Promise<string> {
  return vi.waitFor(async () => {
    const building = (await store.generations.all()).find(({ state }) => state === 'building')
    expect(building).toBeDefined()
    return building?.name as string
  }, patience)
}

/** When a rebuild last asked for the generation being built. */
async function builtSince(store: ReadModelStore): Promise<number> {
  return (await store.generations.all()).find(({ state }) => state === 'building')?.since ?? 0
}

function whenAnotherIsActive(store: ReadModelStore): Promise<string> {
  return new Promise((resolve) => {
    const progress = (generation: string, at?: unknown) => {
      if (at === undefined) resolve(generation)
    }
    store.generations.listen({ connected() {}, disconnected() {}, progress })
  })
}
