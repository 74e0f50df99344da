import { afterEach, describe, it } from 'vitest'
import { applying } from './contract/applying.ts'
import { checkpoints } from './contract/checkpoints.ts'
import type { ContractTopic, ReadModelsFixture } from './contract/fixture.ts'
import { generations } from './contract/generations.ts'
import { listening } from './contract/listening.ts'
import { model } from './contract/model.ts'
import { reading } from './contract/reading.ts'
import { stores } from './contract/stores.ts'

/**
 * Every sentence of the `ReadModels` port as a check. Deliberately left open: which refusal is told when several
 * apply, whether a listener hears of a batch before or after `apply` resolves, and what a read sees of the parked
 * events beyond their subjects, which the port does not read.
 */
export const readModelsTopics: readonly ContractTopic[] = [
  generations,
  checkpoints,
  applying,
  reading,
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
