import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rebuild } from '../../src/projector/rebuild.ts'
import { bad, discard, expected, outcome, pet, project } from './discarding.ts'
import { recordOf, type Spec } from './log-model.ts'
import { countedPets, everything, logger, openWorld, untilCaughtUp } from './world.ts'

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
