import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { Turns } from '../../../src/engine/commands/turns.ts'
import { eventually } from '../../lib/eventually.ts'

const late = () => new Error('late')
const waiter = (owner = 'owner', waitMs = 10_000) => ({ owner, waitMs, late })

it('work waits for all that came before it under its name, failed or not, be it asked for while that is done', async () => {
  const turns = new Turns()
  const second = Promise.withResolvers<void>()
  const third = vi.fn(async () => {})
  const failing = turns.take('a', waiter(), () => Promise.reject(late()))
  const working = [turns.take('a', waiter(), () => second.promise)]
  await expect(failing).rejects.toThrow()
  await new Promise(setImmediate)
  working.push(turns.take('a', waiter(), third))
  await new Promise(setImmediate)
  expect(third).not.toHaveBeenCalled()
  second.resolve()
  await Promise.all(working)
  expect(third).toHaveBeenCalledOnce()
  await eventually(() => expect(turns.size).toBe(0))
})

it('work that gives up waiting lets nobody pass what is in progress, and takes up no turn', async () => {
  const turns = new Turns()
  const first = Promise.withResolvers<void>()
  const begun = vi.fn(async (_hasWaited: boolean) => {})
  const working = turns.take('a', waiter(), () => first.promise)
  const givingUp = Array.from({ length: 3 }, () => turns.take('a', waiter('other', 1), begun))
  for (const each of givingUp) await expect(each).rejects.toThrow('late')
  const waiting = turns.take('a', waiter(), begun)
  await new Promise(setImmediate)
  expect(begun).not.toHaveBeenCalled()
  first.resolve()
  await Promise.all([working, waiting])
  expect(begun.mock.calls).toEqual([[true]])
  expect(turns.size).toBe(0)
})

it('work of an owner waits for what is in progress, and for one of each other owner before each of its own', async () => {
  const owners = ['a', 'b', 'c', 'd']
  /** Who asks, or undefined where what is in progress ends. */
  const steps = fc.array(fc.option(fc.constantFrom(...owners), { nil: undefined }), { maxLength: 60, size: 'max' })
  const holds = fc.asyncProperty(steps, async (asked) => {
    const turns = new Turns()
    const begun: { readonly owner: string; readonly number: number; readonly end: () => void }[] = []
    const waiting = new Map<number, { readonly owner: string; othersLeft: number }>()
    const working: Promise<void>[] = []
    function ask(owner: string, number: number): void {
      const own = [...waiting.values()].filter((each) => each.owner === owner).length
      waiting.set(number, { owner, othersLeft: (owners.length - 1) * (own + 1) })
      const work = async () => {
        const { promise, resolve: end } = Promise.withResolvers<void>()
        begun.push({ owner, number, end })
        const [first] = [...waiting].find(([, each]) => each.owner === owner) ?? []
        expect(number).toBe(first)
        waiting.delete(number)
        for (const each of waiting.values()) if (each.owner !== owner) each.othersLeft--
        await promise
      }
      working.push(turns.take('a', waiter(owner), work))
    }
    let ended = 0
    async function end(): Promise<void> {
      begun[ended++]?.end()
      await new Promise(setImmediate)
      expect(begun.length).toBe(Math.min(ended + 1, working.length)) // one at a time, and at once
    }
    for (const [number, owner] of asked.entries()) {
      if (owner !== undefined) ask(owner, number)
      else if (ended < begun.length) await end()
      expect([...waiting.values()].filter(({ othersLeft }) => othersLeft < 0)).toEqual([])
    }
    while (ended < working.length) await end()
    await Promise.all(working)
    expect(turns.size).toBe(0)
  })
  await fc.assert(holds, { numRuns: 100 })
})

it('work of other names does not wait', async () => {
  const turns = new Turns()
  const first = Promise.withResolvers<void>()
  const working = turns.take('a', waiter(), () => first.promise)
  expect(await turns.take('b', waiter(), async (hasWaited) => hasWaited)).toBe(false)
  first.resolve()
  await working
})
