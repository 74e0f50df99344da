import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventLog } from '../../src/event-log/event-log.ts'
import { openSqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts'
import { ServiceError } from '../../src/lib/errors.ts'
import { MemoryEventLog, MemoryLogData } from '../event-log/memory-event-log.ts'
import { checkCreates } from './model/check-creates.ts'
import { checkReads } from './model/check-reads.ts'
import { checkLog, checkReadModels } from './model/check-stores.ts'
import { storedIn } from './model/log-contents.ts'
import { type Script, script } from './model/steps.ts'
import { inVirtualTime } from './model/virtual-time.ts'
import { World } from './model/world.ts'

/** A world in which the script has been played, everything that failed works again, and all has come to rest. */
async function play(log: EventLog, { steps, latenciesMs }: Script): Promise<World> {
  const world = new World(log, latenciesMs)
  await world.settled()
  for (const step of steps) await world.take(step)
  await world.heal()
  await world.settled()
  return world
}

/** With nothing failing any more everybody is served: every key once more, for either pet, on both processes at once. */
async function checkServes(world: World): Promise<void> {
  const { clients, apis } = world
  const keys = new Set(clients.creates.map(({ options }) => options.key))
  const before = { creates: clients.creates.length, reads: clients.reads.length }
  for (const api of apis) {
    for (const key of keys) {
      clients.create(api, { key, pet: 'Rex', waitMs: 0 })
      clients.create(api, { key, pet: 'Mia', waitMs: 0 })
    }
    clients.read(api, { index: undefined, withToken: true, waitMs: 1000 })
  }
  await world.settled()
  const refused = [...clients.creates.slice(before.creates), ...clients.reads.slice(before.reads)].map(errorOf)
  expect(refused.filter((code) => code !== undefined && code !== 'idempotency_key_reused')).toEqual([])
}

function errorOf({ failure }: { failure?: unknown }): unknown {
  return failure instanceof ServiceError ? failure.code : failure
}

/** What the clients saw, in the words of the service. */
function course({ clients }: World) {
  return {
    creates: clients.creates.map((each) => [each.asked, each.answered, each.answer, errorOf(each)]),
    reads: clients.reads.map((each) => [each.asked, each.answered, each.answer?.documents, errorOf(each)]),
  }
}

describe.each<[string, () => EventLog]>([
  ['SQLite', () => openSqliteEventLog({ file: ':memory:' })],
  ['three partitions in memory', () => new MemoryEventLog(new MemoryLogData(3))],
])('creating pets on an event log of %s', (_, openLog) => {
  it('whatever fails, every answer is true, and stays so', async () => {
    const holds = async (given: Script) => {
      const world = await play(openLog(), given)
      await checkServes(world)
      const { clients, log, readModels } = world
      const stored = await storedIn(log)
      checkLog(log, stored)
      await checkReadModels(readModels.data, stored)
      checkCreates(clients.creates, stored)
      checkReads(clients.reads, clients.creates, stored)
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
