import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Tracker, type TrackerOptions } from '../../../src/engine/read-models/tracker.ts'
import { eventually } from '../../lib/eventually.ts'
import { ScriptedStore, someTurns, stopClock } from './scripted-store.ts'

const longMs = 1_000_000

function open(options?: TrackerOptions, store = new ScriptedStore()) {
  const tracker = new Tracker(store, options)
  onTestFinished(() => tracker.close())
  const events: string[] = []
  tracker.observe({
    looked: ({ active, checkpoints }) => events.push(`looked ${active?.name} ${checkpoints?.get(0)?.next ?? 0}`),
    failed: (error) => events.push(`failed ${(error as { code?: string }).code}`),
    connected: () => events.push('connected'),
    progress: (generation, progress) => events.push(`${generation} ${progress?.next ?? 'active'}`),
  })
  return { store, tracker, events }
}

describe('looking at the store', () => {
  it('gives observers and callers the result of a look that began after the call', async () => {
    const { store, tracker, events } = open()
    await tracker.look()
    events.length = 0
    const release = store.hold()
    const first = tracker.look()
    await someTurns() // on its way
    store.takeOver('second')
    store.next.set(0, 5)
    const later = [tracker.look(), tracker.look()]
    release()
    expect((await first).active?.name).toBe('first')
    for (const look of await Promise.all(later)) expect(look.checkpoints?.get(0)?.next).toBe(5)
    expect(events).toEqual(['looked first 0', 'looked second 5'])
  })

  it('throws what the store throws, tells observers of it, and goes on', async () => {
    const { store, tracker, events } = open()
    await tracker.look()
    events.length = 0
    store.isAway = true
    await expect(tracker.look()).rejects.toMatchObject({ code: 'read_model_unavailable' })
    store.isAway = false
    expect((await tracker.look()).active?.name).toBe('first')
    expect(events).toEqual(['failed read_model_unavailable', 'looked first 0'])
  })

  it.each<[string, (store: ScriptedStore) => void]>([
    ['on a connection', (store) => store.connect()],
    ['when a generation becomes the active one', (store) => store.announce()],
    ['at progress of another generation', (store) => progressOf(store, 'another')],
    ['again and again', () => {}],
  ])('happens %s', async (when, change) => {
    const { store, tracker } = open({ lookMs: when === 'again and again' ? 1 : longMs })
    await tracker.look()
    await someTurns()
    const { looks } = store.asked
    change(store)
    await eventually(() => expect(store.asked.looks).toBeGreaterThan(looks))
  })

  it('happens a second after the last one began, whoever asked for that', async () => {
    stopClock()
    const { store, tracker } = open()
    const passed = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms)
      return store.asked.looks
    }
    await tracker.look()
    const before = store.asked.looks
    expect(await passed(600)).toBe(before)
    await tracker.look()
    expect(await passed(999)).toBe(before + 1)
    expect(await passed(1)).toBe(before + 2)
    expect(await passed(3000)).toBe(before + 5)
  })

  it.each([undefined, { partition: 0, from: 0, next: 1, withoutEffect: [] }])(
    'goes on, at most every 20 ms, whatever generations are announced: %j',
    async (progress) => {
      stopClock()
      const { store, tracker } = open({ lookMs: longMs })
      await tracker.look()
      await vi.advanceTimersByTimeAsync(20)
      const { looks } = store.asked
      const flood = setInterval(() => store.announce(progress, `forged ${Math.random()}`), 1)
      vi.spyOn(store, 'look').mockImplementation(async () => {
        store.announce(progress, 'forged meanwhile')
        return await ScriptedStore.prototype.look.call(store)
      })
      await vi.advanceTimersByTimeAsync(200)
      expect(store.asked.looks - looks).toBeLessThan(25) // each look is repeated once
      expect((await tracker.look()).active?.name).toBe('first')
      clearInterval(flood)
    },
  )

  it('leaves what it found, or why it failed, to whoever does not want to wait', async () => {
    const { store, tracker } = open({ lookMs: longMs }, awayStore())
    expect(() => tracker.lastLook).toThrow('not being looked at')
    await expect(tracker.look()).rejects.toThrow('away')
    expect(() => tracker.lastLook).toThrow('away')
    store.connect()
    const look = await tracker.look()
    expect(tracker.lastLook).toBe(look)
    await tracker.close()
    expect(() => tracker.lastLook).toThrow('not being looked at')
  })

  it('does not happen for progress of the active generation', async () => {
    const looks = vi.fn()
    const { store, tracker, events } = open({ lookMs: longMs })
    await tracker.look()
    await someTurns()
    tracker.observe({ looking: looks })
    progressOf(store, 'first')
    await someTurns()
    expect(events.at(-1)).toBe('first 1')
    expect(looks).not.toHaveBeenCalled()
  })

  it.each<[string, (store: ScriptedStore) => void]>([
    ['a generation was started', (store) => store.start('second')],
    [
      'the connection was lost',
      (store) => [store.disconnect(), store.takeOver('second'), store.next.clear(), store.connect()],
    ],
  ])('never tells what it read before %s', async (_, change) => {
    const { store, tracker, events } = open()
    await tracker.look()
    events.length = 0
    store.next.set(0, 1)
    const release = store.hold()
    tracker.lookSoon()
    await someTurns() // on its way
    change(store)
    release()
    expect((await tracker.look()).active?.name).toBe('second')
    expect(events).not.toContain('looked first 1')
  })

  it('ends with close, and so does listening', async () => {
    const { store, tracker, events } = open({ lookMs: 1 })
    const looking = tracker.look()
    const closing = tracker.close()
    await expect(looking).rejects.toMatchObject({ code: 'read_model_unavailable' })
    await closing
    await expect(tracker.look()).rejects.toMatchObject({ code: 'read_model_unavailable' })
    const { looks } = store.asked
    events.length = 0
    await someTurns()
    expect([store.listeners, store.asked.looks, events]).toEqual([0, looks, []])
  })
})

function awayStore(): ScriptedStore {
  const store = new ScriptedStore()
  store.isAway = true
  return store
}

function progressOf(store: ScriptedStore, generation: string): void {
  store.announce({ partition: 0, from: 0, next: 1, withoutEffect: [] }, generation)
}
