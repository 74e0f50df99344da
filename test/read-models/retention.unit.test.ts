import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startRetention } from '../../src/read-models/retention.ts'

function start(graceMs: number, prunes = true) {
  const done: string[] = []
  const stores = ['one', 'other'].map((name) => ({
    renew: vi.fn(async () => void done.push(`renew ${name}`)),
    prune: vi.fn(async (asked: number) => {
      done.push(`prune ${name} ${asked}`)
      return []
    }),
  }))
  const stop = startRetention(stores, { graceMs, prunes, logger: { info: vi.fn(), debug: vi.fn() } as never })
  return { done, stores, stop }
}

describe('retention', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
  })

  it('renews every shard before any is pruned, at once and again well within the period of grace', async () => {
    const { done, stores, stop } = start(5000)
    await vi.advanceTimersByTimeAsync(0)
    expect(done).toEqual(['renew one', 'renew other', 'prune one 5000', 'prune other 5000'])
    await vi.advanceTimersByTimeAsync(5000)
    expect(stores[0]?.renew.mock.calls.length).toBeGreaterThan(5)
    await stop()
    const { length } = done
    await vi.advanceTimersByTimeAsync(60_000)
    expect(done.length).toBe(length)
  })

  it('prunes only where it is told to', async () => {
    const { done, stop } = start(5000, false)
    await vi.advanceTimersByTimeAsync(1)
    await stop()
    expect(done).toEqual(['renew one', 'renew other'])
  })

  it('goes on after an error, and does not spin when the period is longer than a timer can be', async () => {
    const { stores, stop } = start(31_536_000_000)
    stores[0]?.renew.mockRejectedValueOnce(new Error('away'))
    await vi.advanceTimersByTimeAsync(59_000)
    expect(stores[0]?.renew).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(2000)
    expect(stores[0]?.renew).toHaveBeenCalledTimes(2)
    await stop()
  })
})
