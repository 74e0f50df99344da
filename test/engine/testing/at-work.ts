import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'vitest'

/** What keeps this process at work, and what listens to its events: how many there are of each. */
export function atWork(): ReadonlyMap<string, number> {
  const count = new Map<string, number>()
  for (const name of process.getActiveResourcesInfo()) count.set(name, (count.get(name) ?? 0) + 1)
  for (const event of process.eventNames()) count.set(`on ${String(event)}`, process.listenerCount(event))
  return count
}

/** What other files have left may end meanwhile. Waits without a timer, which would be at work. */
export async function expectNoMoreAtWork(before: ReadonlyMap<string, number>): Promise<void> {
  const more = () => [...atWork()].filter(([name, count]) => count > (before.get(name) ?? 0))
  const deadline = performance.now() + 1000
  while (more().length > 0 && performance.now() < deadline) await nextTurn()
  expect(more()).toEqual([])
}
