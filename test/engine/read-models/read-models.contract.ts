import { afterEach, describe, it } from 'vitest'
import { activating } from './contract/activating.ts'
import { applying, refusing } from './contract/applying.ts'
import { damaging } from './contract/damaging.ts'
import type { ContractTopic, ReadModelsFixture } from './contract/fixture.ts'
import { building, generations } from './contract/generations.ts'
import { inspecting } from './contract/inspecting.ts'
import { keyed } from './contract/keyed.ts'
import { keyedMany } from './contract/keyed-many.ts'
import { kinds } from './contract/kinds.ts'
import { listening } from './contract/listening.ts'
import { longRows } from './contract/long-rows.ts'
import { looking } from './contract/looking.ts'
import { model } from './contract/model.ts'
import { reading } from './contract/reading.ts'
import { removal } from './contract/removal.ts'
import { stores } from './contract/stores.ts'
import { streams } from './contract/streams.ts'
import { together } from './contract/together.ts'
import { upkeep } from './contract/upkeep.ts'

/**
 * Every sentence of the ports of `ReadModelStore` as a check. Deliberately left open: which refusal is told when several
 * apply, but for a checkpoint that is not the expected one, which comes before what exists; whether a listener hears of a
 * batch before or after `apply` resolves; what a version that was never renewed is to `versions` and `prune`; and what
 * becomes of batches that contradict themselves.
 */
export const readModelsTopics: readonly ContractTopic[] = [
  ...[generations, building, activating, upkeep, listening, looking],
  ...[applying, streams, kinds, longRows, removal, refusing, together],
  ...[reading, keyed, keyedMany, inspecting, stores, model, damaging],
]

/** Runs the contract on an adapter; `open` gives each test data of its own. */
export function readModelsContract(adapter: string, open: () => Promise<ReadModelsFixture>): void {
  describe(`${adapter} keeps the contract of ReadModelStore`, () => {
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
