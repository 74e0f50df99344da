import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Offset } from '../../src/event-log/event-log.ts'
import { LimitedLog } from '../../src/projector/limited-log.ts'
import { MemoryEventLog, MemoryLogData } from '../event-log/memory-event-log.ts'
import { CutLog } from './cut-log.ts'
import { record } from './records.ts'
import { withMethods } from './world.ts'

/** What a subscriber is given of a log of `size` records whose batches end at `cuts`. */
async function subscribed(size: number, cuts: readonly Offset[], batch = async () => true) {
  const cut = new CutLog(
    Array.from({ length: size }, (_, at) => record(at, `${at}`)),
    cuts,
  )
  const subscribe = (group: string, subscriber: Parameters<CutLog['subscribe']>[1]) => cut.subscribe(group, subscriber)
  const log = new LimitedLog(withMethods(new MemoryEventLog(new MemoryLogData(1)), { subscribe }))
  const given: Offset[] = []
  const batches: { from: Offset; next: Offset }[] = []
  const assigned = vi.fn()
  const subscription = await log.subscribe('group', {
    assigned,
    batch: async ({ from, next, records }) => {
      if (!(await batch())) return false
      expect(records.map(({ offset }) => offset)).toEqual(Array.from({ length: next - from }, (_, at) => from + at))
      given.push(...records.map(({ offset }) => offset))
      batches.push({ from, next })
      return true
    },
  })
  await vi.waitFor(() => expect(assigned).toHaveBeenCalledWith([0]))
  subscription.seek(0, 0)
  onTestFinished(() => subscription.close())
  return { log, given, batches, subscription }
}

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await nextTurn()
}

const upTo = (end: number) => Array.from({ length: end }, (_, at) => at)

describe('a limited log', () => {
  it('gives nothing before it is told how far', async () => {
    const { given, batches } = await subscribed(5, [])
    await someTurns()
    expect([given, batches]).toEqual([[], []])
  })

  it('stops exactly at each limit, in the middle of batches too, and goes on when it is raised', async () => {
    const offsets = fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(offsets, offsets, async (cuts, limits) => {
        const { log, given, batches, subscription } = await subscribed(20, cuts)
        for (const limit of [...limits.sort((a, b) => a - b), 20]) {
          log.raise(new Map([[0, limit]]))
          await vi.waitFor(() => expect(given).toEqual(upTo(limit)), { interval: 1 })
          await nextTurn()
          expect(batches.at(-1)?.next).toBe(limit)
        }
        expect(given).toEqual(upTo(20))
        await subscription.close()
      }),
      { numRuns: 30 },
    )
  })

  it('never goes back behind a limit it was given', async () => {
    const { log, given } = await subscribed(9, [])
    log.raise(new Map([[0, 7]]))
    log.raise(new Map([[0, 2]]))
    await vi.waitFor(() => expect(given).toEqual(upTo(7)), { interval: 1 })
  })

  it('gives again what was not taken', async () => {
    let refusals = 3
    const { log, given, subscription } = await subscribed(9, [4], async () => refusals-- <= 0)
    log.raise(new Map([[0, 6]]))
    await vi.waitFor(() => {
      if (given.length < 6) subscription.seek(0, given.length)
      expect(given).toEqual(upTo(6))
    })
  })

  it('closes while it waits', async () => {
    const { log, given, subscription } = await subscribed(9, [])
    log.raise(new Map([[0, 2]]))
    await vi.waitFor(() => expect(given).toEqual([0, 1]), { interval: 1 })
    await subscription.close()
    log.raise(new Map([[0, 9]]))
    await someTurns()
    expect(given).toEqual([0, 1])
  })
})
