import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { StoredVersion } from '../../../src/engine/read-models/ports/generations.ts'
import { startRetention } from '../../../src/engine/read-models/retention.ts'

const graceMs = 5000

/** Two shards whose store lists the versions that a test sets. */
function start({ grace = graceMs, prunes = true } = {}) {
  const state: { versions: StoredVersion[]; isAway: boolean } = { versions: [], isAway: false }
  const done: string[] = []
  const removed: string[] = []
  const stores = ['one', 'other'].map((name) => ({
    renew: vi.fn(async () => {
      if (state.isAway) throw new Error('away')
      done.push(`renew ${name}`)
    }),
    versions: async () => state.versions,
    removeVersion: async ({ version, renewed }: StoredVersion, logId: string) => {
      removed.push(`${version} of ${logId}, renewed at ${renewed}`)
      state.versions = state.versions.filter((each) => each.version !== version)
      return true
    },
    prune: async (asked: number) => {
      done.push(`prune ${name} ${asked}`)
      return []
    },
  }))
  const logger = { info: vi.fn(), debug: vi.fn() } as never
  const stop = startRetention(stores, { logId: 'log', versions: ['own', 'own.s2-1'], graceMs: grace, prunes, logger })
  onTestFinished(stop)
  return { state, done, removed, stores, stop }
}

const passing = (ms: number) => vi.advanceTimersByTimeAsync(ms)

describe('retention', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
  })

  it('renews every shard before any is pruned, at once and again well within the period of grace', async () => {
    const { done, stores, stop } = start()
    await passing(0)
    expect(done).toEqual(['renew one', 'renew other', 'prune one 5000', 'prune other 5000'])
    await passing(5000)
    expect(stores[0]?.renew.mock.calls.length).toBeGreaterThan(5)
    await stop()
    const { length } = done
    await passing(60_000)
    expect(done.length).toBe(length)
  })

  it('removes a version that it has watched for the period of grace, and nobody renewed', async () => {
    const { state, removed } = start()
    state.versions = [
      { version: 'old', renewed: 1 },
      { version: 'used', renewed: 1 },
    ]
    await passing(graceMs - 1000)
    state.versions = state.versions.map((each) => (each.version === 'used' ? { ...each, renewed: 2 } : each))
    expect(removed).toEqual([])
    await passing(2000)
    expect(removed).toEqual(['old of log, renewed at 1'])
    await passing(graceMs)
    expect(removed).toEqual(['old of log, renewed at 1', 'used of log, renewed at 2'])
  })

  it('removes no version of its own, of whichever shard, although none seems to be renewed', async () => {
    const { state, removed } = start()
    state.versions = ['own', 'own.s2-1', 'old'].map((version) => ({ version, renewed: 1 }))
    await passing(2 * graceMs)
    expect(removed).toEqual(['old of log, renewed at 1'])
  })

  it('removes nothing after an outage that others had too, until it has watched for as long again', async () => {
    const { state, removed } = start()
    state.versions = [{ version: 'cut off', renewed: 1 }]
    await passing(graceMs - 1000)
    state.isAway = true
    await passing(10 * graceMs)
    state.isAway = false
    await passing(graceMs - 1000)
    expect(removed).toEqual([])
    await passing(2000)
    expect(removed).toEqual(['cut off of log, renewed at 1'])
  })

  it('prunes only where it is told to', async () => {
    const { state, done, removed } = start({ prunes: false })
    state.versions = [{ version: 'old', renewed: 1 }]
    await passing(2 * graceMs)
    expect([new Set(done), removed]).toEqual([new Set(['renew one', 'renew other']), []])
  })

  it('goes on after an error, and does not spin when the period is longer than a timer can be', async () => {
    const { stores } = start({ grace: 31_536_000_000 })
    stores[0]?.renew.mockRejectedValueOnce(new Error('away'))
    await passing(59_000)
    expect(stores[0]?.renew).toHaveBeenCalledTimes(1)
    await passing(2000)
    expect(stores[0]?.renew).toHaveBeenCalledTimes(2)
  })
})
