import { expect, it, vi } from 'vitest'
import { openWorld, someSeats } from '../projector/world.ts'
import { growingLog, startRebuild } from './rebuilding.ts'

it('a rebuild does not take over with a part of what the log held, though the active generation has even less', async () => {
  const world = openWorld()
  const { log, add } = growingLog(world, async () => [3])
  await world.store.generations.start({ name: 'active', logId: log.logId }, undefined)
  const records = someSeats(1, 3)
  add(records.slice(0, 2))
  const activate = vi.spyOn(world.store.generations, 'activate')
  const hasLookedAgain = Promise.withResolvers<string>()
  let looks = 0
  const progress = (done: number) => {
    if (done === 2 && ++looks === 2) hasLookedAgain.resolve('goes on')
  }
  const rebuilding = startRebuild({ log, store: world.store }, { progress })
  expect(await Promise.race([rebuilding, hasLookedAgain.promise])).toBe('goes on')
  expect(activate).not.toHaveBeenCalled()
  add(records.slice(2))
  expect(await rebuilding).toBe('activated')
})

it('a rebuild takes over with all that is left of a log that has lost its end since the rebuild began', async () => {
  const world = openWorld()
  let asked = 0
  const { log, add } = growingLog(world, async () => [asked++ === 0 ? 3 : 2])
  await world.store.generations.start({ name: 'active', logId: log.logId }, undefined)
  add(someSeats(1, 2))
  expect(await startRebuild({ log, store: world.store })).toBe('activated')
})
