import { afterEach, describe, it } from 'vitest'
import { activating } from './contract/activating.ts'
import { applying } from './contract/applying.ts'
import { building } from './contract/building.ts'
import { checkpoints } from './contract/checkpoints.ts'
import type { ContractTopic, ReadModelsFixture } from './contract/fixture.ts'
import { generations } from './contract/generations.ts'
import { inspecting } from './contract/inspecting.ts'
import { inspectingPages } from './contract/inspecting-pages.ts'
import { inspectingParked } from './contract/inspecting-parked.ts'
import { listening } from './contract/listening.ts'
import { model } from './contract/model.ts'
import { parking } from './contract/parking.ts'
import { ranges } from './contract/ranges.ts'
import { reading } from './contract/reading.ts'
import { stores } from './contract/stores.ts'
import { upkeep } from './contract/upkeep.ts'

/**
 * Every sentence of the `ReadModels` port as a check. Deliberately left open: which refusal is told when several
 * apply, whether a listener hears of a batch before or after `apply` resolves, what a version that was never renewed
 * is to `versions` and `prune`, and what becomes of batches that contradict themselves (that free a subject of which
 * something stays parked, or that unpark what they park).
 */
export const readModelsTopics: readonly ContractTopic[] = [
  generations,
  building,
  activating,
  upkeep,
  checkpoints,
  applying,
  parking,
  ranges,
  reading,
  inspecting,
  inspectingPages,
  inspectingParked,
  listening,
  stores,
  model,
]

/** Runs the contract of the `ReadModels` port on an adapter; `open` gives each test data of its own. */
export function readModelsContract(adapter: string, open: () => Promise<ReadModelsFixture>): void {
  describe(`${adapter} keeps the contract of ReadModels`, () => {
    let fixture: ReadModelsFixture | undefined
    afterEach(async () => {
      await fixture?.remove()
      fixture = undefined
    })
    for (const { topic, cases } of readModelsTopics) {
      describe(topic, () => {
        for (const { name, check } of cases) {
          it(name, async () => {
            fixture = await open()
            await check(fixture)
          })
        }
      })
    }
  })
}
