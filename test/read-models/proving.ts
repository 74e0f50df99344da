import { setImmediate } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { ProvenReads } from '../../src/read-models/proven-reads.ts'
import type { ReadModels } from '../../src/read-models/read-models.ts'
import { ScriptedStore } from './scripted-store.ts'

/** Proven reads of a store that does as it is told, beside a log with these ends. */
export function openProvenReads(ends: number[] = [0, 0]) {
  const store = new ScriptedStore()
  const log = { epoch: 'epoch', ends: async () => ends }
  return { store, ends, log, reads: new ProvenReads(store as unknown as ReadModels, log) }
}

export async function untilStatus(reads: ProvenReads, expected: string): Promise<void> {
  await vi.waitFor(() => expect(reads.state.status).toBe(expected))
}

export const all = { from: 1, limit: 10 }

/** Of the documents that `ScriptedStore` makes, which are ids. */
export function ids({ documents }: { documents: string }): number[] {
  return JSON.parse(`[${documents}]`)
}

export async function idsOf(reads: ProvenReads): Promise<number[]> {
  return ids(await reads.range(all))
}

/** Whatever is waiting to be looked at has been. */
export async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await setImmediate()
}

/** To before the last document, without a sign of it. */
export function rollBack(store: ScriptedStore): void {
  store.next.set(0, (store.next.get(0) ?? 0) - 1)
  store.ids = store.ids.slice(0, -1)
  store.added--
}
