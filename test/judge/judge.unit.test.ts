import { describe, expect, it } from 'vitest'
import { Random } from '../lib/random.ts'
import type { Exchange, History } from './history.ts'
import { checkAgainstLog } from './judge.ts'
import { checkPets, undecidedMax } from './pet-checker.ts'
import { plantedBugs } from './simulation/planted-bugs.ts'
import { simulate } from './simulation/simulated.ts'
import { partitions } from './simulation/simulated-log.ts'

const correctSeeds = 40
const plantedMin = 3
const seedsMax = 200

const checkers = {
  log: (history: History) => checkAgainstLog(history, partitions, true),
  pets: (history: History) => checkPets(history).contradictions,
}

const histories = new Map<number, History>()
function history(seed: number): History {
  const simulated = histories.get(seed) ?? simulate(seed)
  histories.set(seed, simulated)
  return simulated
}

/** Histories with this bug, by seed. */
function plantedIn({ plant }: (typeof plantedBugs)[number]): { seed: number; planted: History }[] {
  const places: { seed: number; planted: History }[] = []
  for (let seed = 1; seed <= seedsMax && places.length < plantedMin; seed++) {
    const planted = plant(history(seed), new Random(seed))
    if (planted !== undefined) places.push({ seed, planted })
  }
  return places
}

describe('the checkers of a campaign', () => {
  it.each(Object.entries(checkers))('find nothing in correct histories (%s)', (_, check) => {
    for (let seed = 1; seed <= correctSeeds; seed++) {
      expect({ seed, found: check(history(seed)) }).toEqual({ seed, found: [] })
    }
  })

  it('check every pet of the simulated histories', () => {
    for (let seed = 1; seed <= correctSeeds; seed++) expect(checkPets(history(seed)).unchecked).toEqual([])
  })

  it.each([
    [undecidedMax, []],
    [undecidedMax + 1, [1]],
  ])('tell which pets have too many writes of unknown outcome to be checked: %i', (lost, unchecked) => {
    const pet = { id: 1, name: 'a', categoryId: 1, status: 'available' } as const
    const times = { session: undefined, instance: undefined, sentMs: 0, answeredMs: 1 }
    const wanted = { name: 'a', categoryId: 1 }
    const created: Exchange = { number: 0, operation: 'createPet', wanted, status: 201, body: pet, ...times }
    const orders = Array.from(
      { length: lost },
      (_, at): Exchange => ({ number: at + 1, operation: 'placeOrder', id: 1, status: undefined, ...times }),
    )
    expect(checkPets({ log: [], exchanges: [created, ...orders] })).toEqual({ contradictions: [], unchecked })
  })

  const cases = plantedBugs.flatMap((bug) => bug.seenBy.map((by) => ({ ...bug, by })))
  it.each(cases)('find that $name ($by)', (bug) => {
    const places = plantedIn(bug)
    expect(places.length).toBe(plantedMin)
    for (const { seed, planted } of places) {
      expect({ seed, isFound: checkers[bug.by](planted).length > 0 }).toEqual({ seed, isFound: true })
    }
  })

  it('both see most of the bugs', () => {
    expect(plantedBugs.length).toBeGreaterThanOrEqual(16)
    expect(plantedBugs.filter(({ seenBy }) => seenBy.length === 2).length).toBeGreaterThanOrEqual(8)
  })
})

describe('a simulated history', () => {
  it('is the same for the same seed', () => {
    expect(simulate(7)).toEqual(simulate(7))
    expect(simulate(7)).not.toEqual(simulate(8))
  })
})
