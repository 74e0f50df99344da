import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { FairTurns } from '../../../src/engine/feed/fair-turns.ts'
import { eventually } from '../../lib/eventually.ts'

/** Pieces of work, of which the first one ends when told to. */
function openTurns() {
  const turns = new FairTurns()
  const begun: string[] = []
  const inProgress: { readonly owner: string; readonly end: () => void }[] = []
  const take = (owner: string) =>
    turns.take(owner, async () => {
      begun.push(owner)
      const { promise, resolve: end } = Promise.withResolvers<void>()
      inProgress.push({ owner, end })
      await promise
    })
  /** Until none is left; tells after each who has pieces in progress. */
  async function endAll(pieces: readonly Promise<void>[]): Promise<string[][]> {
    const seen: string[][] = []
    for (const [i] of pieces.entries()) {
      await eventually(() => expect(begun.length).toBeGreaterThan(i))
      for (let turn = 0; turn < 5; turn++) await nextTurn()
      seen.push(inProgress.map(({ owner }) => owner))
      inProgress.shift()?.end()
    }
    await Promise.all(pieces)
    return seen
  }
  return { begun, take, endAll }
}

it('one piece of an owner is in progress at once, and two of all', async () => {
  const { take, endAll } = openTurns()
  expect(await endAll(['a', 'a', 'b', 'b', 'c'].map(take))).toEqual([
    ['a', 'b'],
    ['b', 'a'],
    ['a', 'c'],
    ['c', 'b'],
    ['b'],
  ])
})

it('owners take turns, however much one of them asks for', async () => {
  const { begun, take, endAll } = openTurns()
  await endAll([...Array(6).fill('a'), ...Array(6).fill('b'), 'c', 'd', 'e'].map(take))
  for (const owner of ['c', 'd', 'e']) expect(begun.indexOf(owner)).toBeLessThan(8)
})

it('between two pieces everything else has a turn, and work that fails gives its turn back', async () => {
  const turns = new FairTurns()
  let others = 0
  const count = () => {
    others++
    if (others < 10) setImmediate(count)
  }
  setImmediate(count)
  const seen: number[] = []
  const fails = Array.from({ length: 8 }, () =>
    turns.take('a', async () => {
      seen.push(others)
      throw new Error('as it should')
    }),
  )
  const outcomes = await Promise.allSettled(fails)
  expect(outcomes.map(({ status }) => status)).toEqual(Array(8).fill('rejected'))
  expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})
