import { describe, expect, it, vi } from 'vitest'
import type { ReadModels } from '../../src/read-models/read-models.ts'
import type { ReadModelsFixture } from './contract/fixture.ts'
import { activatingFaults } from './faults/activating.ts'
import { applyingFaults } from './faults/applying.ts'
import { buildingFaults } from './faults/building.ts'
import { type Faults, fails, memoryFixture } from './faults/fault.ts'
import { inspectingFaults } from './faults/inspecting.ts'
import { inspectingParkedFaults } from './faults/inspecting-parked.ts'
import { listeningFaults } from './faults/listening.ts'
import { parkingFaults } from './faults/parking.ts'
import { readingFaults } from './faults/reading.ts'
import { upkeepFaults } from './faults/upkeep.ts'
import { readModelsContract, readModelsTopics } from './read-models.contract.ts'

const cases = readModelsTopics.flatMap(({ topic, cases }) => cases.map((each) => ({ topic, ...each })))

/** The topics by which the faults are found: by cases that say what is broken, not by the model alone. */
const faults: readonly { topics: readonly string[]; faults: Faults }[] = [
  { topics: ['generations', 'checkpoints and parked subjects', 'applying', 'reading'], faults: applyingFaults },
  { topics: ['ranges', 'reading', 'applying'], faults: readingFaults },
  { topics: ['listening', 'stores'], faults: listeningFaults },
  { topics: ['building'], faults: buildingFaults },
  { topics: ['activating'], faults: activatingFaults },
  { topics: ['upkeep'], faults: upkeepFaults },
  { topics: ['parking', 'listening'], faults: parkingFaults },
  { topics: ['inspecting', 'inspecting page by page'], faults: inspectingFaults },
  { topics: ['inspecting what is parked', 'inspecting'], faults: inspectingParkedFaults },
]

const failing: ReadModels = {
  active: async () => fails(),
  start: async () => fails(),
  checkpoints: async () => fails(),
  partitionStates: async () => fails(),
  apply: async () => fails(),
  range: async () => fails(),
  decision: async () => fails(),
  parkedUnder: async () => fails(),
  contents: async () => fails(),
  entries: async () => fails(),
  decisions: async () => fails(),
  parked: async () => fails(),
  parkedAt: async () => fails(),
  generations: async () => fails(),
  build: async () => fails(),
  activate: async () => fails(),
  remove: async () => fails(),
  renew: async () => fails(),
  versions: async () => fails(),
  prune: async () => fails(),
  listen: fails,
  close: async () => fails(),
}

async function passes(check: (fixture: ReadModelsFixture) => Promise<void>, fixture: ReadModelsFixture) {
  try {
    await check(fixture)
    return true
  } catch {
    return false
  }
}

readModelsContract('the model', async () => memoryFixture())

describe('the contract suite', () => {
  vi.setConfig({ testTimeout: 30_000 })

  it.each(cases)('fails on a store that answers nothing: $topic: $name', async ({ check }) => {
    expect(await passes(check, { ...memoryFixture(), open: async () => failing })).toBe(false)
  })

  for (const { topics, faults: broken } of faults) {
    it.each(Object.entries(broken))(`finds by ${topics[0]} a store that %s`, async (_, fault) => {
      let isFound = false
      for (const { topic, check } of cases) {
        if (topics.includes(topic)) isFound ||= !(await passes(check, memoryFixture(fault)))
      }
      expect(isFound).toBe(true)
    })
  }
})
