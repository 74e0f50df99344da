import { beforeEach, describe, expect, it, vi } from 'vitest'
import { sweepMs, withoutEffectMax } from '../../../src/engine/read-models/applied-positions.ts'
import { openProven, type ScriptedStore, someTurns, stopClock } from './scripted-store.ts'

const longMs = 1_000_000

/** The log told this process of what is below `toldEnd`. */
function open(toldEnd = 10_000) {
  const { store, tracker, model } = openProven([toldEnd, 0])
  void model.whenApplied({ partition: 0, offset: toldEnd - 1 }, { timeoutMs: 0, isRecorded: true })
  const heard = (from: number, next: number, withoutEffect: number[] = []) =>
    store.announce({ partition: 0, from, next, withoutEffect })
  const at = (offset: number, timeoutMs = 0, isAbandoned?: () => boolean) =>
    model.whenApplied({ partition: 0, offset }, { timeoutMs, isAbandoned })
  const look = async (next: number) => {
    store.next.set(0, next)
    await tracker.look()
  }
  return { store, tracker, model, heard, at, look }
}

type World = ReturnType<typeof open>
const [applied, none, unheard, late] = ['applied', 'without_effect', 'unheard', 'late']

describe('what became of each offset', () => {
  const cases: Record<string, [script: (world: World) => unknown, expected: (string | undefined)[]]> = {
    'nothing is known': [() => {}, [late]],
    'messages without a gap': [
      ({ heard }) => [heard(0, 2, [0]), heard(2, 4, [3])],
      [none, applied, applied, none, late],
    ],
    'a message was missed': [
      ({ heard }) => [heard(0, 1, [0]), heard(3, 4)],
      [unheard, unheard, unheard, applied, late],
    ],
    'a look, and a message after it': [
      async ({ heard, look }) => [await look(2), heard(2, 4, [2])],
      [unheard, unheard, none, applied, late],
    ],
    'a look that is further than the messages': [
      async ({ heard, look }) => [heard(0, 2), await look(3)],
      [unheard, unheard, unheard, late],
    ],
    'a look that shows what was heard': [async ({ heard, look }) => [heard(0, 2, [1]), await look(2)], [applied, none]],
    'a message behind the look that showed it': [
      async ({ heard, look }) => [await look(3), heard(1, 3, [2])],
      [unheard, applied, none, late],
    ],
    'a message about what was before a look': [
      async ({ heard, look }) => [await look(3), heard(0, 1)],
      [unheard, unheard, unheard, late],
    ],
    'a look that messages overtook': [
      async ({ store, tracker, heard }) => {
        heard(0, 1)
        store.next.set(0, 1)
        const release = store.hold()
        const looking = tracker.look()
        await someTurns()
        heard(1, 2)
        release()
        await looking
      },
      [applied, applied, late],
    ],
    'a message came twice': [
      ({ heard }) => [heard(0, 2, [1]), heard(2, 3), heard(0, 2, [1])],
      [applied, none, applied, late],
    ],
    'another partition went on': [
      ({ store }) => store.announce({ partition: 1, from: 0, next: 9, withoutEffect: [] }),
      [late],
    ],
    'a reconnection': [
      async ({ store, heard, look }) => [heard(0, 2), store.disconnect(), store.connect(), await look(2)],
      [unheard, unheard, late],
    ],
    'a generation started anew': [
      async ({ store, tracker, heard }) => [heard(0, 2), store.start('second'), await tracker.look()],
      [late],
    ],
    'a generation filled anew': [
      async ({ store, tracker, heard }) => [heard(0, 2, [1]), store.start('second'), await tracker.look(), heard(0, 2)],
      [applied, applied, late],
    ],
    'another generation than the one that is looked at': [
      ({ store }) => store.announce({ partition: 0, from: 0, next: 9, withoutEffect: [] }, 'forged'),
      [late],
    ],
    'a message about a partition that the log lacks': [
      ({ store }) => store.announce({ partition: 7, from: 3, next: 2, withoutEffect: [] }),
      [late],
    ],
    'a message that ends before it begins': [({ heard }) => heard(9, 2), [unheard, unheard, late]],
    'a message beyond what the log told': [({ heard }) => heard(0, 999_999_999_999, [1]), [applied, none, applied]],
    'a message that the next look does not bear out': [
      async ({ heard, look }) => [heard(0, 5), await look(2)],
      [unheard, unheard, late],
    ],
    'a generation that took over': [
      async ({ store, heard, look }) => [heard(0, 2), store.takeOver('second'), store.announce(), await look(2)],
      [unheard, unheard, late],
    ],
    'the store was emptied': [
      async ({ store, heard, tracker }) => [heard(0, 2), store.flush(), await tracker.look()],
      [late],
    ],
    'more without effect than is remembered': [
      ({ heard }) => heard(0, withoutEffectMax + 3, [...Array(withoutEffectMax + 2).keys()]),
      [unheard, unheard, none, none],
    ],
  }
  it.each(Object.entries(cases))('%s', async (_, [script, expected]) => {
    const world = open()
    await world.tracker.look()
    await script(world)
    expect(await Promise.all(expected.map((_, offset) => world.at(offset)))).toEqual(expected)
  })
})

describe('waiting for a position', () => {
  beforeEach(stopClock)

  it('ends in the order of the log when it is heard of, not before, or when a look shows it', async () => {
    const { tracker, model, heard, at, look } = open()
    await tracker.look()
    const settled: string[] = []
    const waits = [5, 3, 4, 6].map((offset) =>
      at(offset, longMs).then((outcome) => settled.push(`${offset} ${outcome}`)),
    )
    heard(0, 4, [3])
    await waits[1]
    expect(settled).toEqual(['3 without_effect'])
    heard(4, 6)
    await Promise.all([waits[0], waits[2]])
    expect(model.waiting).toBe(1)
    await look(7)
    await Promise.all(waits)
    expect(settled).toEqual(['3 without_effect', '4 applied', '5 applied', '6 unheard'])
  })

  it.each<[string, (store: ScriptedStore) => unknown, lookMs: number, expected: (string | undefined)[]]>([
    ['having looked once more: a message may have been lost', (store) => store.next.set(0, 1), 0, [unheard, late]],
    ['though the last look fails', (store) => Object.assign(store, { isAway: true }), 0, [late, late]],
    ['or soon after it, though the store does not answer the last look', (store) => store.hold(), 300, [late, late]],
  ])('is late at its time limit, %s', async (_, change, lookMs, expected) => {
    const { store, tracker, at } = open()
    await tracker.look()
    const waits = [at(0, 1000), at(1, 1000)]
    const release = change(store)
    await vi.advanceTimersByTimeAsync(1000 + sweepMs + lookMs)
    expect(await Promise.all(waits)).toEqual(expected)
    if (typeof release === 'function') release()
  })

  it('is told nothing by a message beyond what the log told, but looks, once for many', async () => {
    const { store, tracker, heard, at } = open(2)
    await tracker.look()
    const waits = [at(2, longMs), at(3, longMs)]
    const { looks } = store.asked
    for (let message = 0; message < 100; message++) heard(0, 999_999_999_999)
    store.next.set(0, 3)
    await vi.advanceTimersByTimeAsync(20)
    expect(store.asked.looks).toBe(looks + 1)
    expect(await waits[0]).toBe(unheard)
    await vi.advanceTimersByTimeAsync(100)
    expect(store.asked.looks).toBe(looks + 1)
    store.next.set(0, 4)
    await tracker.look()
    expect(await waits[1]).toBe(unheard)
  })

  it('looks for what a message said before the log told it', async () => {
    const { store, tracker, model, heard } = open(2)
    await tracker.look()
    heard(0, 3)
    const { looks } = store.asked
    const wait = model.whenApplied({ partition: 0, offset: 2 }, { timeoutMs: longMs, isRecorded: true })
    store.next.set(0, 3)
    await vi.advanceTimersByTimeAsync(20)
    expect([await wait, store.asked.looks]).toEqual([unheard, looks + 1])
  })

  it('does not begin without time', async () => {
    const { model, at } = open()
    const wait = at(0, 0)
    expect(model.waiting).toBe(0)
    expect(await wait).toBe(late)
  })

  it('that is abandoned ends soon and leaves the others as they are', async () => {
    const { tracker, model, heard, at } = open()
    await tracker.look()
    const abandoned = new Set<number>()
    const waits = [1, 0, 1].map((offset, index) => at(offset, longMs, () => abandoned.has(index)))
    abandoned.add(0)
    vi.advanceTimersByTime(sweepMs)
    expect(await waits[0]).toBe(late)
    expect(model.waiting).toBe(2)
    heard(0, 2)
    expect(await Promise.all(waits)).toEqual([late, applied, applied])
  })

  it.each(['disconnect', 'close'])('ends at once on %s, as every later one does, and leaves no timer', async (end) => {
    const { store, tracker, model, heard, at } = open()
    heard(0, 1)
    const waits = [at(9, longMs), at(9, longMs)]
    if (end === 'close') await tracker.close()
    else store.disconnect()
    expect(await Promise.all([...waits, at(0, longMs)])).toEqual([late, late, late])
    expect([model.waiting, vi.getTimerCount(), tracker.isConnected]).toEqual([0, end === 'close' ? 0 : 1, false])
  })

  it('ends when the read model is closed', async () => {
    const { model, at } = open()
    const wait = at(0, longMs)
    model.close()
    expect([await wait, model.waiting]).toEqual([late, 0])
  })

  it('goes on when the store is back', async () => {
    const { store, at } = open()
    store.disconnect()
    store.next.set(0, 1)
    store.connect()
    expect(await at(0, longMs)).toBe(unheard)
  })
})
