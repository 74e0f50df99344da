import { expect, vi } from 'vitest'
import type { Offset } from '../../src/event-log/event-log.ts'
import { Projector } from '../../src/projector/projector.ts'
import type { ReadModels } from '../../src/read-models/read-models.ts'
import { MemoryData } from '../read-models/memory-data.ts'
import { MemoryReadModels } from '../read-models/memory-read-models.ts'
import { CutLog } from './cut-log.ts'
import { LogModel, recordOf, type Spec } from './log-model.ts'
import { countedPets, everything, logger } from './world.ts'

export const bad = (subject: string, name: 'PetCreated' | 'EventDiscarded' = 'PetCreated'): Spec => ({
  kind: 'unreadable',
  subject,
  name,
})
export const pet = (id: number, event = `event ${id}`, key?: string): Spec => ({ kind: 'pet', id, event, key })
export const discard = (subject: string, target: number): Spec => ({ kind: 'discard', subject, target })

/** Batches end at the cuts; at those of `restarts` another projector goes on. */
export async function project(specs: readonly Spec[], cuts: readonly Offset[] = [], restarts: readonly Offset[] = []) {
  const store = new MemoryReadModels(new MemoryData())
  const records = specs.map(recordOf)
  for (const end of [...restarts.filter((end) => end < specs.length).sort((a, b) => a - b), specs.length]) {
    const log = new CutLog(records.slice(0, end), cuts)
    const projector = await Projector.start({ log, store, definition: countedPets, group: 'group', logger })
    await vi.waitFor(async () => expect(await position(store)).toBe(end), { timeout: 5000, interval: 1 })
    await projector.close()
  }
  return store
}

async function position(store: ReadModels): Promise<number | undefined> {
  const active = await store.active()
  return active && ((await store.checkpoints(active.name))?.get(0)?.next ?? 0)
}

/** What tests look at: which event made which pet, what is parked where and why, and the counts. */
export async function outcome(store: ReadModels, generation?: string) {
  const found = await everything(store, generation)
  if (found === undefined) throw new Error('no such generation')
  const { next = 0, applied = 0, dropped = 0, parked = 0, skipped = 0 } = found.checkpoints.get(0) ?? {}
  const pets = (found.entries ?? []).map(({ id, text }): [number, string] => [
    id,
    /"name":"(.*?)"/.exec(text)?.[1] ?? '',
  ])
  return {
    pets: Object.fromEntries(pets),
    parked: found.parkedEvents.map(({ offset, subject, reason }) => ({ offset, subject, reason })),
    decided: Object.fromEntries((found.decided ?? []).map(({ key, offset }) => [key, offset])),
    counts: { applied, dropped, parked, skipped },
    read: next,
  }
}

export function expected(specs: readonly Spec[]): Awaited<ReturnType<typeof outcome>> {
  const { pets, parked, decided, counts } = new LogModel(specs)
  return {
    pets: Object.fromEntries(pets),
    parked: parked.map(({ offset, subject, reason }) => ({ offset, subject, reason })),
    decided: Object.fromEntries(decided),
    counts,
    read: specs.length,
  }
}
