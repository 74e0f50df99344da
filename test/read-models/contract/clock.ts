import { expect, vi } from 'vitest'
import type { ReadModels } from '../../../src/read-models/read-models.ts'
import type { StoredGeneration } from '../../../src/read-models/upkeep.ts'

/** The time by the clock of a store of version `v1`, which is the one thing that shows it at will. */
export async function timeOf(store: ReadModels): Promise<number> {
  await store.renew()
  const versions = await store.versions()
  const own = versions.find(({ version }) => version === 'v1')
  if (own === undefined) throw new Error('the version was renewed and is not there')
  return own.renewed
}

/** Resolves once the clock of the store has moved on, so that what happens next is later than what happened. */
export async function clockMoved(store: ReadModels): Promise<void> {
  const before = await timeOf(store)
  await vi.waitFor(async () => expect(await timeOf(store)).toBeGreaterThan(before), { interval: 1 })
}

/** What is listed of a generation. */
export async function listed(store: ReadModels, name: string): Promise<StoredGeneration | undefined> {
  return (await store.generations()).find((generation) => generation.name === name)
}

/** The states of all generations, by name. */
export async function statesOf(store: ReadModels): Promise<Record<string, string>> {
  return Object.fromEntries((await store.generations()).map(({ name, state }) => [name, state]))
}
