import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { keepHouse } from '../../src/read-models/housekeeping.ts'

function open() {
  const done: string[] = []
  const store = {
    renew: vi.fn(async () => void done.push('renew')),
    prune: vi.fn(async (graceMs: number) => {
      done.push(`prune ${graceMs}`)
      return []
    }),
  }
  const logger = { info: vi.fn(), debug: vi.fn() } as never
  return { done, store, logger }
}

describe('housekeeping', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('renews, then prunes, at once and again well within the period of grace', async () => {
    const { done, store, logger } = open()
    const stop = keepHouse([store], { graceMs: 5000, prunes: true, logger })
    await vi.advanceTimersByTimeAsync(0)
    expect(done).toEqual(['renew', 'prune 5000'])
    await vi.advanceTimersByTimeAsync(5000)
    expect(store.renew.mock.calls.length).toBeGreaterThan(5)
    await stop()
    const { length } = done
    await vi.advanceTimersByTimeAsync(60_000)
    expect(done.length).toBe(length)
  })

  it('renews every shard before any is pruned, and prunes only where told to', async () => {
    const [one, other] = [open(), open()]
    const order: string[] = []
    for (const [name, { store }] of Object.entries({ one, other })) {
      store.renew.mockImplementation(async () => void order.push(`renew ${name}`))
      store.prune.mockImplementation(async () => {
        order.push(`prune ${name}`)
        return []
      })
    }
    const stop = keepHouse([one.store, other.store], { graceMs: 5000, prunes: true, logger: one.logger })
    await vi.advanceTimersByTimeAsync(0)
    await stop()
    expect(order).toEqual(['renew one', 'renew other', 'prune one', 'prune other'])
    const third = open()
    const stopThird = keepHouse([third.store], { graceMs: 5000, prunes: false, logger: third.logger })
    await vi.advanceTimersByTimeAsync(5000)
    await stopThird()
    expect(third.store.prune).not.toHaveBeenCalled()
  })

  it('goes on after an error, and does not spin when the period is longer than a timer can be', async () => {
    const { store, logger } = open()
    store.renew.mockRejectedValueOnce(new Error('away'))
    const stop = keepHouse([store], { graceMs: 31_536_000_000, prunes: true, logger })
    await vi.advanceTimersByTimeAsync(59_000)
    expect(store.renew).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(2000)
    expect(store.renew).toHaveBeenCalledTimes(2)
    await stop()
  })
})
