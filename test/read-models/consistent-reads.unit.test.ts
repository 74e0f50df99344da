import { describe, expect, it, vi } from 'vitest'
import { AppliedProgress } from '../../src/read-models/applied-progress.ts'
import { ConsistentReads } from '../../src/read-models/consistent-reads.ts'
import { ScriptedStore } from './scripted-store.ts'

const all = { from: 1, limit: 10 }
const longMs = 1_000_000

function open() {
  const store = new ScriptedStore()
  const progress = new AppliedProgress(store)
  const range = vi.fn((query: typeof all) => store.range(store.generation?.name ?? '', query))
  return { store, progress, range, reads: new ConsistentReads({ range }, progress) }
}

const at = (...positions: [partition: number, offset: number][]) =>
  positions.map(([partition, offset]) => ({ partition, offset }))

describe('consistent reads', () => {
  it('without positions are one read', async () => {
    const { store, range, reads, progress } = open()
    store.apply(1, { partition: 0, next: 1 })
    expect(await reads.range(all)).toMatchObject({ documents: '1' })
    expect(range).toHaveBeenCalledTimes(1)
    progress.close()
  })

  it('are released by the positions read with the documents', async () => {
    const { store, range, reads, progress } = open()
    store.apply(1, { partition: 0, next: 1 })
    store.apply(2, { partition: 3, next: 8 })
    const positions = at([0, 0], [3, 7])
    expect(await reads.range(all, { positions, wait: { timeoutMs: 0 } })).toMatchObject({ documents: '1,2' })
    expect(range).toHaveBeenCalledTimes(1)
    progress.close()
  })

  it('are held back until every position is reached', async () => {
    const { store, reads, progress } = open()
    const answer = reads.range(all, { positions: at([0, 0], [1, 0]), wait: { timeoutMs: longMs } })
    await vi.waitFor(() => expect(progress.waiting).toBe(1))
    store.apply(1, { partition: 0, next: 1 })
    await vi.waitFor(() => expect(progress.waiting).toBe(1))
    store.apply(2, { partition: 1, next: 1 })
    expect(await answer).toMatchObject({ documents: '1,2' })
    expect(progress.waiting).toBe(0)
    progress.close()
  })

  it('are not released by an announcement that the documents do not bear out', async () => {
    const { store, range, reads, progress } = open()
    store.apply(1, { partition: 0, next: 1 })
    const old = await store.range('first', all)
    range.mockResolvedValueOnce(old).mockResolvedValueOnce(old)
    store.apply(2, { partition: 0, next: 2 })
    expect(await reads.range(all, { positions: at([0, 1]), wait: { timeoutMs: longMs } })).toMatchObject({
      documents: '1,2',
    })
    expect(range).toHaveBeenCalledTimes(3)
    progress.close()
  })

  it('not reached in time they are read_model_behind, never older data', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    try {
      const { store, reads, progress } = open()
      store.apply(1, { partition: 0, next: 1 })
      const answer = reads.range(all, { positions: at([0, 1]), wait: { timeoutMs: 1000 } })
      const refused = expect(answer).rejects.toMatchObject({ code: 'read_model_behind' })
      await vi.waitFor(() => expect(progress.waiting).toBe(1))
      await vi.advanceTimersByTimeAsync(1000)
      await refused
      progress.close()
    } finally {
      vi.useRealTimers()
    }
  })

  it('that would not wait are read_model_behind at once', async () => {
    const { reads, progress } = open()
    const answer = reads.range(all, { positions: at([0, 0]), wait: { timeoutMs: 0 } })
    await expect(answer).rejects.toMatchObject({ code: 'read_model_behind' })
    progress.close()
  })

  it('end when they are abandoned', async () => {
    const { reads, progress } = open()
    let isAbandoned = false
    const wait = { timeoutMs: longMs, isAbandoned: () => isAbandoned }
    const answer = reads.range(all, { positions: at([0, 0]), wait })
    await vi.waitFor(() => expect(progress.waiting).toBe(1))
    isAbandoned = true
    await expect(answer).rejects.toMatchObject({ code: 'read_model_behind' })
    expect(progress.waiting).toBe(0)
    progress.close()
  })
})
