import { describe, expect, it, vi } from 'vitest'
import type { ReadModelStore } from '../../../src/engine/read-models/ports/store.ts'
import { canaries, memoryFixture } from './contract/canaries.ts'
import type { ReadModelsFixture } from './contract/fixture.ts'
import { readModelsContract, readModelsTopics } from './read-models.contract.ts'

const cases = readModelsTopics.flatMap(({ topic, cases }) => cases.map((each) => ({ topic, ...each })))

function fails(): never {
  throw new Error('not made')
}

/** Every method of every port throws. */
const failing = new Proxy({} as ReadModelStore, {
  // A promise that resolves to the store asks it for `then`.
  get: (_, port) => (port === 'then' ? undefined : port === 'close' ? fails : new Proxy({}, { get: () => fails })),
})

async function passes(check: (fixture: ReadModelsFixture) => Promise<void>, fixture: ReadModelsFixture) {
  try {
    await check(fixture)
    return true
  } catch {
    return false
  }
}

readModelsContract('the simplest store', async () => memoryFixture())

const faults = Object.entries(canaries).flatMap(([topic, faults]) =>
  Object.entries(faults).map(([what, fault]) => [topic, what, fault] as const),
)

describe('the contract suite', () => {
  vi.setConfig({ testTimeout: 30_000 })

  it.each(cases)('fails on a store that answers nothing: $topic: $name', async ({ check }) => {
    expect(await passes(check, { ...memoryFixture(), open: async () => failing })).toBe(false)
  })

  it.each(faults)('finds by %s a store that %s', async (topic, _, fault) => {
    for (const { check } of cases.filter((each) => each.topic === topic)) {
      if (!(await passes(check, memoryFixture(fault)))) return
    }
    expect.fail('no case does')
  })
})
