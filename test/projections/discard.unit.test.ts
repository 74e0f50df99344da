import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { Projector } from '../../projections/projector.ts'
import { rebuild } from '../../projections/rebuild.ts'
import type { Offset } from '../../src/event-log/event-log.ts'
import type { ReadModels } from '../../src/read-models/read-models.ts'
import { MemoryData } from '../read-models/memory-data.ts'
import { MemoryReadModels } from '../read-models/memory-read-models.ts'
import { CutLog } from './cut-log.ts'
import { LogModel, recordOf, type Spec } from './log-model.ts'
import { countedPets, everything, logger, openWorld, untilCaughtUp } from './world.ts'

const bad = (subject: string, name: 'PetCreated' | 'EventDiscarded' = 'PetCreated'): Spec => ({
  kind: 'unreadable',
  subject,
  name,
})
const pet = (id: number, event = `event ${id}`, key?: string): Spec => ({ kind: 'pet', id, event, key })
const discard = (subject: string, target: number): Spec => ({ kind: 'discard', subject, target })
const behind = 'an earlier event of this subject is parked'
const unknownVersion = 'version 9 of PetCreated is not known'
const taken = (id: number) => `id ${id} exists under another event id`

/** Batches end at the cuts; at those of `restarts` another projector goes on. */
async function project(specs: readonly Spec[], cuts: readonly Offset[] = [], restarts: readonly Offset[] = []) {
  const store = new MemoryReadModels(new MemoryData())
  const records = specs.map(recordOf)
  for (const end of [...restarts.filter((end) => end < specs.length).sort((a, b) => a - b), specs.length]) {
    const log = new CutLog(records.slice(0, end), cuts)
    const projector = await Projector.start({ log, store, definition: countedPets, group: 'group', logger })
    await vi.waitFor(async () => expect(await position(store)).toBe(end), { timeout: 5000, interval: 1 })
    await projector.close()
  }
  return store
}

async function position(store: ReadModels): Promise<number | undefined> {
  const active = await store.active()
  return active && ((await store.checkpoints(active.name))?.get(0)?.next ?? 0)
}

/** What tests look at: which event made which pet, what is parked where and why, and the counts. */
async function outcome(store: ReadModels, generation?: string) {
  const found = await everything(store, generation)
  if (found === undefined) throw new Error('no such generation')
  const { next = 0, applied = 0, dropped = 0, parked = 0, skipped = 0 } = found.checkpoints.get(0) ?? {}
  const pets = (found.entries ?? []).map(({ id, text }): [number, string] => [
    id,
    /"name":"(.*?)"/.exec(text)?.[1] ?? '',
  ])
  return {
    pets: Object.fromEntries(pets),
    parked: found.parkedEvents.map(({ offset, subject, reason }) => ({ offset, subject, reason })),
    decided: Object.fromEntries((found.decided ?? []).map(({ key, offset }) => [key, offset])),
    counts: { applied, dropped, parked, skipped },
    read: next,
  }
}

function expected(specs: readonly Spec[]): Awaited<ReturnType<typeof outcome>> {
  const { pets, parked, decided, counts } = new LogModel(specs)
  return {
    pets: Object.fromEntries(pets),
    parked: parked.map(({ offset, subject, reason }) => ({ offset, subject, reason })),
    decided: Object.fromEntries(decided),
    counts,
    read: specs.length,
  }
}

const cases: {
  what: string
  log: Spec[]
  pets: Record<number, string>
  parked: [Offset, string][]
  dropped: number
}[] = [
  {
    what: 'the only one parked: the next of its subject is applied again',
    log: [bad('5'), discard('5', 0), pet(5)],
    pets: { 5: 'event 5' },
    parked: [],
    dropped: 2,
  },
  {
    what: 'the first: those behind it are applied, in order',
    log: [bad('5'), pet(5, 'first'), pet(5, 'second'), pet(6), discard('5', 0)],
    pets: { 5: 'first', 6: 'event 6' },
    parked: [[2, taken(5)]],
    dropped: 2,
  },
  {
    what: 'the first: those behind it up to one that cannot be read, and those behind that stay',
    log: [bad('5'), pet(5), bad('5'), pet(5, 'later'), discard('5', 0)],
    pets: { 5: 'event 5' },
    parked: [
      [2, unknownVersion],
      [3, behind],
    ],
    dropped: 2,
  },
  {
    what: 'one after the other, until none is left',
    log: [bad('5'), bad('5'), pet(5), discard('5', 0), discard('5', 1), pet(5, 'new')],
    pets: { 5: 'event 5' },
    parked: [[5, taken(5)]],
    dropped: 4,
  },
  {
    what: 'one in the middle: what stands before it still holds up the others',
    log: [bad('5'), pet(5, 'first'), pet(5, 'second'), discard('5', 1)],
    pets: {},
    parked: [
      [0, unknownVersion],
      [2, behind],
    ],
    dropped: 2,
  },
  {
    what: 'a pet whose id was taken: what was behind it has the same trouble',
    log: [pet(5), pet(5, 'a'), pet(5, 'b'), discard('5', 1)],
    pets: { 5: 'event 5' },
    parked: [[2, taken(5)]],
    dropped: 2,
  },
  {
    what: 'the same event twice behind it: applied once',
    log: [bad('5'), pet(5), pet(5), discard('5', 0)],
    pets: { 5: 'event 5' },
    parked: [],
    dropped: 3,
  },
  {
    what: 'an event again behind another one about its pet: it is the same event after all',
    log: [pet(5), pet(5, 'another'), pet(5), discard('5', 1)],
    pets: { 5: 'event 5' },
    parked: [],
    dropped: 3,
  },
  {
    what: 'twice: the second time has nothing to do',
    log: [bad('5'), bad('5'), discard('5', 0), discard('5', 0)],
    pets: {},
    parked: [[1, unknownVersion]],
    dropped: 3,
  },
  {
    what: 'of what is not parked: nothing is left out',
    log: [pet(5), discard('5', 0), discard('7', 3), discard('5', 9)],
    pets: { 5: 'event 5' },
    parked: [],
    dropped: 3,
  },
  {
    what: 'of another subject than the one parked there',
    log: [bad('5'), bad('6'), discard('6', 0), discard('5', 1)],
    pets: {},
    parked: [
      [0, unknownVersion],
      [1, unknownVersion],
    ],
    dropped: 2,
  },
  {
    what: 'that was to discard another, which nobody can say: what waits behind both follows once both are gone',
    log: [bad('5'), bad('5', 'EventDiscarded'), pet(5), discard('5', 0), discard('5', 1), pet(6)],
    pets: { 5: 'event 5', 6: 'event 6' },
    parked: [],
    dropped: 4,
  },
  {
    what: 'before the event comes that it names',
    log: [discard('5', 1), bad('5')],
    pets: {},
    parked: [[1, unknownVersion]],
    dropped: 1,
  },
]

describe.each(cases)('an event is discarded: $what', ({ log, pets, parked, dropped }) => {
  const splits = [[], [1, 2, 3, 4, 5], ...log.map((_, at) => [at])]

  it('whatever the batches, and whether projectors come and go', async () => {
    for (const cuts of splits) {
      for (const restarts of [[], cuts]) {
        const found = await outcome(await project(log, cuts, restarts))
        expect(found.pets).toEqual(pets)
        expect(found.parked.map(({ offset, reason }) => [offset, reason])).toEqual(parked)
        expect(found.counts).toMatchObject({ applied: Object.keys(pets).length, dropped, parked: parked.length })
        expect(found).toEqual(expected(log))
      }
    }
  })
})

const ids = fc.integer({ min: 1, max: 3 })
const anySpec: fc.Arbitrary<Spec> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(ids, ids).map(([id, event]) => pet(id, `${id} by ${event}`)) },
  // One event for each key, as the service makes it; the pets of two requests under a key differ.
  { weight: 2, arbitrary: fc.tuple(ids, ids).map(([id, key]) => pet(id, `keyed ${key}`, `key ${key}`)) },
  { weight: 3, arbitrary: ids.map((id) => bad(`${id}`)) },
  { weight: 1, arbitrary: ids.map((id) => bad(`${id}`, 'EventDiscarded')) },
  { weight: 1, arbitrary: fc.constant<Spec>({ kind: 'foreign' }) },
  { weight: 6, arbitrary: fc.tuple(ids, fc.integer({ min: 0, max: 15 })).map(([id, at]) => discard(`${id}`, at)) },
)
/** Discards mostly name something that stands before them, under its subject. */
const anyLog = fc.array(fc.tuple(anySpec, fc.nat(100)), { maxLength: 30 }).map((drawn) => {
  const specs: Spec[] = []
  for (const [spec, choice] of drawn) {
    const target = choice % (specs.length + 1)
    const named = specs[target]
    const isAimed = spec.kind === 'discard' && choice > 20 && (named?.kind === 'pet' || named?.kind === 'unreadable')
    if (isAimed) specs.push(discard(named.kind === 'pet' ? `${named.id}` : named.subject, target))
    else specs.push(spec)
  }
  return specs
})
const anyOffsets = fc.array(fc.integer({ min: 1, max: 29 }), { maxLength: 10 })

describe('discarding', () => {
  it('whatever is in the log and however it is split, the read models are those of the model', async () => {
    await fc.assert(
      fc.asyncProperty(anyLog, anyOffsets, anyOffsets, async (specs, cuts, restarts) => {
        const store = await project(specs, cuts, restarts)
        const found = await outcome(store)
        expect(found).toEqual(expected(specs))
        const { applied, dropped, parked, skipped } = found.counts
        expect(applied + dropped + parked + skipped).toBe(specs.length)
        const all = await everything(store)
        expect(all).toEqual(await everything(await project(specs)))
        expect([...(all?.counters.values() ?? [])].reduce((sum, count) => sum + count, 0)).toBe(applied)
      }),
      { numRuns: 300 },
    )
  })

  it('whether subjects are free is not forgotten by a projector that starts', async () => {
    const log = [bad('5'), bad('6'), discard('5', 0), pet(5), pet(6)]
    const store = await project(log.slice(0, 3), [1, 2])
    const generation = (await store.active())?.name ?? ''
    expect((await store.partitionStates(generation, [0]))?.get(0)?.parkedSubjects).toEqual(new Set(['6']))
  })

  it('in files too, across projectors, and a rebuild decides the same', async () => {
    await fc.assert(
      fc.asyncProperty(anyLog, anyOffsets, async (specs, appends) => {
        const { log, store, append, start, stop, close } = openWorld()
        let from = 0
        for (const end of [...appends.filter((each) => each < specs.length), specs.length].sort((a, b) => a - b)) {
          await append(specs.slice(from, end).map((spec, at) => recordOf(spec, from + at)))
          from = end
          await start({ definition: countedPets })
          await untilCaughtUp({ log, store })
          await stop()
        }
        expect(await outcome(store)).toEqual(expected(specs))
        const before = await everything(store)
        expect(await rebuild({ log, store, definition: countedPets, group: 'rebuild', logger })).toBe('activated')
        expect(await everything(store)).toEqual(before)
        await close()
      }),
      { numRuns: 8 },
    )
  }, 30_000)
})
