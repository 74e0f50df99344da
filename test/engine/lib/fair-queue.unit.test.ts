import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FairQueue } from '../../../src/engine/lib/fair-queue.ts'

const owners = ['a', 'b', 'c', 'd']

interface Item {
  readonly owner: string
  readonly number: number
  /** How many of others may have a turn before it. */
  othersLeft: number
}

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ adds: fc.constantFrom(...owners) }) },
  { weight: 3, arbitrary: fc.record({ takesUnless: fc.option(fc.constantFrom(...owners), { nil: undefined }) }) },
  { weight: 1, arbitrary: fc.record({ leaves: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ olderThan: fc.nat(100) }) },
)

it('before an item each other owner has one turn at most for each of those that its owner has there, in their order', () => {
  const holds = fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
    const queue = new FairQueue<Item>()
    let waiting: Item[] = []
    const others = owners.length - 1
    const leave = (item: Item) => {
      waiting = waiting.filter((other) => other !== item)
    }
    for (const [number, each] of steps.entries()) {
      if ('adds' in each) {
        const own = waiting.filter(({ owner }) => owner === each.adds)
        const item = { owner: each.adds, number, othersLeft: others * (own.length + 1) }
        waiting.push(item)
        queue.add(item.owner, item)
      } else if ('leaves' in each) {
        const item = waiting[each.leaves % Math.max(1, waiting.length)]
        if (item === undefined) continue
        leave(item)
        queue.remove(item.owner, item)
      } else if ('olderThan' in each) {
        const isOver = ({ number }: Item) => number < each.olderThan
        const removed = queue.removeFirst(isOver)
        expect(new Set(removed)).toEqual(new Set(waiting.filter(isOver)))
        removed.forEach(leave)
      } else {
        const taken = queue.take((owner) => owner !== each.takesUnless)
        const expected = waiting.filter(({ owner }) => owner !== each.takesUnless)
        if (taken === undefined) {
          expect(expected).toEqual([])
          continue
        }
        expect(taken.item).toBe(expected.find(({ owner }) => owner === taken.owner))
        leave(taken.item)
        // Whoever may not have a turn lets others pass.
        for (const item of waiting) if (![taken.owner, each.takesUnless].includes(item.owner)) item.othersLeft--
        expect(waiting.filter(({ othersLeft }) => othersLeft < 0)).toEqual([])
      }
      expect(queue.size).toBe(waiting.length)
    }
    for (const _ of [...waiting]) expect(queue.take()).toBeDefined()
    expect(queue.take()).toBeUndefined()
  })
  fc.assert(holds, { numRuns: 500 })
})
