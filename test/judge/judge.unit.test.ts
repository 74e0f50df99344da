import { describe, expect, it, vi } from 'vitest'
import { Random } from '../lib/random.ts'
import type { Contradiction, History, ServiceName } from './history.ts'
import { checkAgainstLog } from './judge.ts'
import { type PlantedBug, plantedBugs, plantedInLibrary } from './planted/bugs.ts'
import { partitions, simulate } from './simulated.ts'

// Timers in virtual time, those of promises too.
vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number, value: unknown) => new Promise((resolve) => setTimeout(() => resolve(value), ms)),
  setImmediate: () => new Promise((resolve) => setImmediate(resolve)),
}))

const correctSeeds = 40
/** Some need what seldom happens: a pet that is removed twice is in one of a hundred. */
const plantedMin = 2
const seedsMax = 400
const simulatedWithinMs = 240_000

function found(history: History): Contradiction[] {
  return checkAgainstLog(history, partitions, true)
}

const histories = new Map<string, Promise<History>>()
function history(seed: number, service: ServiceName): Promise<History> {
  const name = `${service} ${seed}`
  const simulated = histories.get(name) ?? simulate(seed, service)
  histories.set(name, simulated)
  return simulated
}

/** Histories with this bug, by seed. */
async function plantedIn({ plant }: PlantedBug, service: ServiceName): Promise<{ seed: number; planted: History }[]> {
  const places: { seed: number; planted: History }[] = []
  for (let seed = 1; seed <= seedsMax && places.length < plantedMin; seed++) {
    const planted = plant(await history(seed, service), new Random(seed))
    if (planted !== undefined) places.push({ seed, planted })
  }
  return places
}

describe.each([
  { service: 'petstore', bugs: plantedBugs },
  { service: 'library', bugs: plantedInLibrary },
] as const)('the judge of the $service', ({ service, bugs }) => {
  it('finds nothing in correct histories', async () => {
    for (let seed = 1; seed <= correctSeeds; seed++) {
      expect({ seed, found: found(await history(seed, service)) }).toEqual({ seed, found: [] })
    }
  })

  it.each(bugs)('finds that $name', { timeout: simulatedWithinMs }, async (bug) => {
    const places = await plantedIn(bug, service)
    expect(places.length).toBe(plantedMin)
    for (const { seed, planted } of places) {
      expect({ seed, isFound: found(planted).length > 0 }).toEqual({ seed, isFound: true })
    }
  })
})

describe('a simulated history', () => {
  it('is the same for the same seed', async () => {
    const course = async (seed: number) =>
      (await simulate(seed)).exchanges.map(({ operation, id, status, code }) => [operation, id, status, code])
    expect(await course(7)).toEqual(await course(7))
    expect(await course(7)).not.toEqual(await course(8))
  })
})
