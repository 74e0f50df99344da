import { describe, expect, it } from 'vitest'
import type { History } from '../history.ts'
import { Random } from '../random.ts'
import { plantedBugs } from '../simulation/planted-bugs.ts'
import { simulate } from '../simulation/simulated.ts'
import { partitions } from '../simulation/simulated-log.ts'
import { checkAgainstLog } from './log-checker.ts'
import { checkPets, uncheckedPets } from './pet-checker.ts'

const correctSeeds = 40
const plantedMin = 3
const seedsMax = 200

const checkers = {
  log: (history: History) => checkAgainstLog(history, partitions),
  pets: checkPets,
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
    for (let seed = 1; seed <= correctSeeds; seed++) expect(uncheckedPets(history(seed))).toEqual([])
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
