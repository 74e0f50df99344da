import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { EventLog } from '../../src/event-log/event-log.ts'
import { openSqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts'
import { ServiceError } from '../../src/lib/errors.ts'
import { MemoryEventLog, MemoryLogData } from '../event-log/memory-event-log.ts'
import { checkReadModels, checkReads } from './model/check-reads.ts'
import { checkWrites } from './model/check-writes.ts'
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

/** With nothing failing any more everybody is served: every key once more, and every pet, on both processes at once. */
async function checkServes(world: World): Promise<void> {
  const { clients, apis } = world
  const before = { writes: clients.writes.length, reads: clients.reads.length }
  const options = { waitMs: 1000, withToken: true }
  for (const api of apis) {
    for (const key of [undefined, 'k', 'l']) {
      for (const pet of ['Rex', 'Mia'] as const) clients.write(api, { kind: 'create', pet, key }, options)
      for (const [pet] of clients.pets.entries()) clients.write(api, { kind: 'order', pet, key }, options)
    }
    clients.read(api, { collection: 'pets', status: undefined, ...options })
  }
  await world.settled()
  const failed = [...clients.writes.slice(before.writes), ...clients.reads.slice(before.reads)].map(errorOf)
  const refusals = [undefined, 'idempotency_key_reused', 'pet_not_available', 'event_parked', 'stream_parked']
  expect(failed.filter((code) => !refusals.includes(code as string))).toEqual([])
}

function errorOf({ failure }: { failure?: unknown }): unknown {
  return failure instanceof ServiceError ? failure.code : failure
}

/** What the clients saw, in the words of the service. */
function course({ clients }: World) {
  return {
    writes: clients.writes.map((each) => [each.asked, each.answered, each.answer, errorOf(each)]),
    reads: clients.reads.map((each) => [each.asked, each.answered, each.answer?.documents, errorOf(each)]),
  }
}

describe.each<[string, () => EventLog]>([
  ['SQLite', () => openSqliteEventLog({ file: ':memory:' })],
  ['three partitions in memory', () => new MemoryEventLog(new MemoryLogData(3))],
])('commands on an event log of %s', (_, openLog) => {
  it('whatever fails, every answer is true, and stays so', async () => {
    const holds = async (given: Script) => {
      const world = await play(openLog(), given)
      await checkServes(world)
      const model = await world.model()
      await checkReadModels(world.store, model)
      checkWrites(world.clients, model)
      await checkReads(world.clients, (upTo) => world.model(upTo))
      expect(world.bugs).toEqual([])
      await world.close()
    }
    // A failure shows seed and path: as parameters beside numRuns they play it again.
    await fc.assert(
      fc.asyncProperty(script, (given) => inVirtualTime(() => holds(given))),
      { numRuns: 300 },
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
