import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { EventLog } from '../../src/engine/log/event-log.ts'
import { openSqliteEventLog } from '../../src/engine/log/sqlite/sqlite-event-log.ts'
import { MemoryEventLog, MemoryLogData } from '../../src/engine/testing/memory/memory-event-log.ts'
import { checkAgainstLog } from './judge.ts'
import { type Script, script } from './model/steps.ts'
import { inVirtualTime } from './model/virtual-time.ts'
import { World } from './model/world.ts'

// Timers in virtual time, those of promises too.
vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number, value: unknown) => new Promise((resolve) => setTimeout(() => resolve(value), ms)),
  setImmediate: () => new Promise((resolve) => setImmediate(resolve)),
}))

/** A world in which the script has been played, everything that failed works again, and all has come to rest. */
async function play(log: EventLog, { steps, latenciesMs }: Script): Promise<World> {
  const world = new World(log, latenciesMs)
  await world.begin()
  for (const step of steps) await world.take(step)
  await world.heal()
  return world
}

/**
 * With nothing failing any more everybody is served: every key once more, and every pet, on both processes at once. After
 * that every list is as of the end of the log.
 */
async function checkServes(world: World): Promise<void> {
  const { clients, apis, log } = world
  const before = clients.recorder.exchanges.length
  const options = { waitSeconds: 1, withToken: true, leavesAfterMs: undefined, readBack: undefined } as const
  const keys = [undefined, 'k', 'l']
  for (const api of apis.keys()) {
    for (const key of keys) {
      for (const pet of ['Rex', 'Mia'] as const) clients.write(api, { kind: 'create', pet, key }, options)
    }
    for (const pet of clients.known.pets.keys()) clients.write(api, { kind: 'order', pet, key: keys[pet % 3] }, options)
    for (const key of keys) clients.write(api, { kind: 'add category', key }, options)
    for (const category of clients.known.categories.keys())
      clients.write(api, { kind: 'change category', category, isRenamed: true }, options)
  }
  await world.settled()
  clients.list(0, await log.endOffsets())
  await world.settled()
  const refusals = [
    undefined,
    'idempotency_key_reused',
    'pet_not_available',
    'pet_is_ordered',
    'pet_not_found',
    'category_not_found',
    'unknown_pet',
    'event_parked',
    'stream_parked',
  ]
  const failed = clients.recorder.exchanges.slice(before).filter(({ code }) => !refusals.includes(code))
  expect(failed).toEqual([])
}

const eventId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** What the clients saw, but for tokens and tags, which name the log, and ids of events, which are random. */
function course({ clients }: World): string {
  const seen = clients.recorder.exchanges.map(({ token, tokenAfter, tag, ...exchange }) => exchange)
  return JSON.stringify(seen, (_, value) => (typeof value === 'string' && eventId.test(value) ? 'event' : value), 1)
}

describe.each<[string, () => EventLog]>([
  ['SQLite', () => openSqliteEventLog({ file: ':memory:' })],
  ['three partitions in memory', () => new MemoryEventLog(new MemoryLogData(3))],
])('commands on an event log of %s', (_, openLog) => {
  it('whatever fails, every answer is true, and stays so', async () => {
    const holds = async (given: Script) => {
      const world = await play(openLog(), given)
      await checkServes(world)
      const { clients, log, bugs } = world
      const history = { log: await world.records(), exchanges: clients.recorder.exchanges }
      expect(checkAgainstLog(history, log.partitions, true)).toEqual([])
      expect(bugs).toEqual([])
      await world.close()
    }
    // A failure shows seed and path: as parameters beside numRuns they play it again.
    await fc.assert(
      fc.asyncProperty(script, (given) => inVirtualTime(() => holds(given))),
      { numRuns: 200 },
    )
  }, 300_000) // to find the smallest failing script takes longer than all that pass

  it('the same script has the same course', async () => {
    const courseOf = async (given: Script) => course(await play(openLog(), given))
    await fc.assert(
      fc.asyncProperty(script, async (given) => {
        const first = await inVirtualTime(() => courseOf(given))
        expect(await inVirtualTime(() => courseOf(given))).toEqual(first)
      }),
      { numRuns: 20 },
    )
  })
})
