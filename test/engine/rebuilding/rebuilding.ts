import { expect, onTestFinished, vi } from 'vitest'
import type { EventLog } from '../../../src/engine/log/event-log.ts'
import { type RebuildOptions, rebuild } from '../../../src/engine/rebuilding/rebuild.ts'
import { MemoryEventLog, MemoryLogData } from '../../../src/engine/testing/memory/memory-event-log.ts'
import { logger } from '../projector/projecting.ts'
import type { AnyRecord } from '../projector/records.ts'
import { disturbed, runningWorld, type World, withMethods } from '../projector/world.ts'
import { theatre } from '../theatre/theatre.ts'

export function startRebuild({ log, store }: Pick<World, 'log' | 'store'>, over: Partial<RebuildOptions> = {}) {
  return rebuild({ log, store, definition: theatre, logger, ...over })
}

/** A world whose read models are caught up with some seats, and whose projector has stopped. */
export async function filledWorld(count = 20): Promise<World> {
  const world = await runningWorld(count)
  await world.stop()
  return world
}

export async function names({ store }: Pick<World, 'store'>) {
  return (await store.generations.all()).map(({ name, state }) => ({ name, state }))
}

/** A generation of the first records, left by a rebuild that was interrupted on the way. */
export async function interrupted(world: World): Promise<string> {
  const stop = new AbortController()
  const store = disturbed(world.store, (method) => (method === 'apply' ? () => stop.abort() : undefined))
  expect(await startRebuild({ ...world, store }, { signal: stop.signal })).toBe('interrupted')
  return (await names(world)).find(({ state }) => state === 'building')?.name ?? 'none'
}

/** Time goes on as it does, and jumps when told to: both the clock that measures and the one that tells the date. */
export function adjustableClock(): (ms: number) => void {
  let ahead = 0
  const real = performance.now.bind(performance)
  const now = vi.spyOn(performance, 'now').mockImplementation(() => real() + ahead)
  vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true })
  onTestFinished(() => {
    now.mockRestore()
    vi.useRealTimers()
  })
  return (ms) => {
    ahead += ms
    vi.advanceTimersByTime(ms)
  }
}

/** As much of the log of a world as is added to it, though it may be said to have more. */
export function growingLog(world: World, endOffsets: EventLog['endOffsets']) {
  const data = new MemoryLogData(1)
  const log = withMethods(new MemoryEventLog(data), { logId: world.log.logId, endOffsets })
  return { log, add: (records: readonly AnyRecord[]) => data.add(0, records) }
}
