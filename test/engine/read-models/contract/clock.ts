import { expect } from 'vitest'
import type { StoredGeneration, StoredVersion } from '../../../../src/engine/read-models/ports/generations.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { eventually } from '../../../lib/eventually.ts'

/** The time by the clock of a store of version `v1`, which is the one thing that shows it at will. */
export async function timeOf({ generations }: ReadModelStore): Promise<number> {
  await generations.renew()
  return (await listedIn({ generations }, 'v1')).renewed
}

/** What is listed of a version. */
export async function listedIn(
  { generations }: Pick<ReadModelStore, 'generations'>,
  version: string,
): Promise<StoredVersion> {
  return (await generations.versions()).find((each) => each.version === version) ?? expect.fail(`no ${version}`)
}

/** Resolves once the clock of the store has moved on, so that what happens next is later than what happened. */
export async function clockMoved(store: ReadModelStore): Promise<void> {
  const before = await timeOf(store)
  await eventually(async () => expect(await timeOf(store)).toBeGreaterThan(before))
}

/** What is listed of a generation. */
export async function listed({ generations }: ReadModelStore, name: string): Promise<StoredGeneration | undefined> {
  return (await generations.all()).find((generation) => generation.name === name)
}

/** The states of all generations, by name. */
export async function statesOf({ generations }: ReadModelStore): Promise<Record<string, string>> {
  return Object.fromEntries((await generations.all()).map(({ name, state }) => [name, state]))
}
