import { afterEach, describe, expect, it, vi } from 'vitest'
import { AppliedProgress, sweepMs } from '../../src/read-models/applied-progress.ts'
import { ScriptedStore } from './scripted-store.ts'

const longMs = 1_000_000
const timers = ['setTimeout', 'clearTimeout', 'performance'] as const

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
      progress
        .whenApplied({ partition: 0, offset }, { timeoutMs: longMs })
        .then((applied) => settled.push(`${offset} ${applied}`)),
    )
    store.apply(1, { partition: 0, next: 4 })
    await waits[1]
    expect(settled).toEqual(['3 true'])
    store.apply(2, { partition: 0, next: 6 })
    await Promise.all(waits)
    expect(settled).toEqual(['3 true', '4 true', '5 true'])
    progress.close()
  })

  it('knows what was announced as parked', async () => {
    const { store, progress } = open()
    store.apply(1, { partition: 0, next: 3, parked: [1] })
    for (const offset of [0, 1, 2]) await progress.whenApplied({ partition: 0, offset }, { timeoutMs: longMs })
    expect([0, 1, 2].map((offset) => progress.isParked({ partition: 0, offset }))).toEqual([false, true, false])
    expect(progress.isParked({ partition: 1, offset: 1 })).toBe(false)
    progress.close()
  })

  it('looks before it waits, and keeps partitions apart', async () => {
    const { store, progress } = open()
    store.apply(1, { partition: 0, next: 1 })
    expect(await progress.whenApplied({ partition: 0, offset: 0 }, { timeoutMs: 0 })).toBe(true)
    expect(await progress.whenApplied({ partition: 1, offset: 0 }, { timeoutMs: 0 })).toBe(false)
    expect(await progress.whenApplied({ partition: 0, offset: 1 }, { timeoutMs: 0 })).toBe(false)
    progress.close()
  })

  it('ends as not applied at its time limit, having asked the store once more', async () => {
    vi.useFakeTimers({ toFake: [...timers] })
    const { store, progress } = open()
    const [announced, lost] = [
      progress.whenApplied({ partition: 0, offset: 1 }, { timeoutMs: 1000 }),
      progress.whenApplied({ partition: 0, offset: 0 }, { timeoutMs: 1000 }),
    ]
    store.apply(1, { partition: 0, next: 1 }, false)
    vi.advanceTimersByTime(1000 + sweepMs)
    expect(await Promise.all([announced, lost])).toEqual([false, true])
    progress.close()
  })

  it('ends at once when the store is known to be away, and is read anew when it is back', async () => {
    const { store, progress } = open()
    const waiting = progress.whenApplied({ partition: 0, offset: 0 }, { timeoutMs: longMs })
    store.disconnect()
    expect(await waiting).toBe(false)
    expect(await progress.whenApplied({ partition: 0, offset: 0 }, { timeoutMs: longMs })).toBe(false)
    store.apply(1, { partition: 0, next: 1 }, false)
    store.connect()
    expect(await progress.whenApplied({ partition: 0, offset: 0 }, { timeoutMs: longMs })).toBe(true)
    progress.close()
  })

  it('a generation started anew begins at nothing', async () => {
    const { store, progress } = open()
    store.apply(1, { partition: 0, next: 1 })
    store.start('second')
    expect(await progress.whenApplied({ partition: 0, offset: 0 }, { timeoutMs: 0 })).toBe(false)
    const waiting = progress.whenApplied({ partition: 0, offset: 0 }, { timeoutMs: longMs })
    store.apply(1, { partition: 0, next: 1 })
    expect(await waiting).toBe(true)
    progress.close()
  })

  it('a wait that is abandoned ends soon and leaves the others as they are', async () => {
    vi.useFakeTimers({ toFake: [...timers] })
    const { store, progress } = open()
    const abandoned = new Set<number>()
    const waits = [1, 0, 1].map((offset, at) =>
      progress.whenApplied({ partition: 0, offset }, { timeoutMs: longMs, isAbandoned: () => abandoned.has(at) }),
    )
    expect(progress.waiting).toBe(3)
    abandoned.add(0)
    vi.advanceTimersByTime(sweepMs)
    expect(await waits[0]).toBe(false)
    expect(progress.waiting).toBe(2)
    store.apply(1, { partition: 0, next: 2 })
    expect(await Promise.all(waits)).toEqual([false, true, true])
    expect(progress.waiting).toBe(0)
    progress.close()
  })

  it('no waiter is left by time limits, lost connections and close', async () => {
    vi.useFakeTimers({ toFake: [...timers] })
    const { store, progress } = open()
    const wait = () => progress.whenApplied({ partition: 0, offset: 9 }, { timeoutMs: 1000 })
    const first = [wait(), wait()]
    vi.advanceTimersByTime(1000 + sweepMs)
    expect(progress.waiting).toBe(0)
    await Promise.all(first)
    const second = [wait(), wait()]
    store.disconnect()
    await Promise.all(second)
    expect([progress.waiting, vi.getTimerCount()]).toEqual([0, 0])
    store.connect()
    await Promise.resolve() // by then it has heard of the connection
    const third = wait()
    expect(progress.waiting).toBe(1)
    progress.close()
    expect(await third).toBe(false)
    expect([progress.waiting, vi.getTimerCount()]).toEqual([0, 0])
  })

  it('a position that was read before a later one was announced does not take it back', async () => {
    const { store, progress } = open()
    store.apply(1, { partition: 0, next: 1 })
    const release = store.hold()
    await vi.waitFor(() => expect(store.reads.checkpoints).toBe(1)) // on its way
    store.apply(2, { partition: 0, next: 2 })
    release()
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    expect(await progress.whenApplied({ partition: 0, offset: 1 }, { timeoutMs: 0 })).toBe(true)
    progress.close()
  })

  it('close ends every wait and stops listening', async () => {
    const { store, progress } = open()
    const waiting = progress.whenApplied({ partition: 0, offset: 0 }, { timeoutMs: longMs })
    progress.close()
    expect(await waiting).toBe(false)
    expect(store.listeners).toBe(0)
  })
})
