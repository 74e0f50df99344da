import { afterEach, describe, expect, it, vi } from 'vitest'
import { AppliedProgress } from '../../src/read-models/applied-progress.ts'
import { ScriptedStore } from './scripted-store.ts'

const longMs = 1_000_000

function open() {
  const store = new ScriptedStore()
  return { store, progress: new AppliedProgress(store) }
}

describe('waiting for a position to be applied', () => {
  afterEach(() => void vi.useRealTimers())

  it('ends when the position is announced, not before', async () => {
    const { store, progress } = open()
    const settled: string[] = []
    const waits = [5, 3, 4].map((offset) =>
      progress.whenApplied({ partition: 0, offset }, longMs).then((applied) => settled.push(`${offset} ${applied}`)),
    )
    store.apply(1, { partition: 0, next: 4 })
    await waits[1]
    expect(settled).toEqual(['3 true'])
    store.apply(2, { partition: 0, next: 6 })
    await Promise.all(waits)
    expect(settled).toEqual(['3 true', '4 true', '5 true'])
    progress.close()
  })

  it('looks before it waits, and keeps partitions apart', async () => {
    const { store, progress } = open()
    store.apply(1, { partition: 0, next: 1 })
    expect(await progress.whenApplied({ partition: 0, offset: 0 }, 0)).toBe(true)
    expect(await progress.whenApplied({ partition: 1, offset: 0 }, 0)).toBe(false)
    expect(await progress.whenApplied({ partition: 0, offset: 1 }, 0)).toBe(false)
    progress.close()
  })

  it('ends as not applied at its time limit, having asked the store once more', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const { store, progress } = open()
    const [announced, lost] = [
      progress.whenApplied({ partition: 0, offset: 1 }, 1000),
      progress.whenApplied({ partition: 0, offset: 0 }, 1000),
    ]
    store.apply(1, { partition: 0, next: 1 }, false)
    vi.advanceTimersByTime(1000)
    expect(await Promise.all([announced, lost])).toEqual([false, true])
    progress.close()
  })

  it('ends at once when the store is known to be away, and is read anew when it is back', async () => {
    const { store, progress } = open()
    const waiting = progress.whenApplied({ partition: 0, offset: 0 }, longMs)
    store.disconnect()
    expect(await waiting).toBe(false)
    expect(await progress.whenApplied({ partition: 0, offset: 0 }, longMs)).toBe(false)
    store.apply(1, { partition: 0, next: 1 }, false)
    store.connect()
    expect(await progress.whenApplied({ partition: 0, offset: 0 }, longMs)).toBe(true)
    progress.close()
  })

  it('a generation started anew begins at nothing', async () => {
    const { store, progress } = open()
    store.apply(1, { partition: 0, next: 1 })
    store.start('second')
    expect(await progress.whenApplied({ partition: 0, offset: 0 }, 0)).toBe(false)
    const waiting = progress.whenApplied({ partition: 0, offset: 0 }, longMs)
    store.apply(1, { partition: 0, next: 1 })
    expect(await waiting).toBe(true)
    progress.close()
  })

  it('close ends every wait and stops listening', async () => {
    const { store, progress } = open()
    const waiting = progress.whenApplied({ partition: 0, offset: 0 }, longMs)
    progress.close()
    expect(await waiting).toBe(false)
    expect(store.listeners).toBe(0)
  })
})
