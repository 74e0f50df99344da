import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { FewATurn } from '../../../src/engine/lib/few-a-turn.ts'

it('does pieces of work in order, so many in a turn, and none at once', async () => {
  const turns = new FewATurn(3)
  const done: number[] = []
  for (let piece = 1; piece <= 7; piece++) turns.add('one', () => void done.push(piece))
  const after = [[], [1, 2, 3], [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6, 7]]
  for (const expected of after) {
    expect(done).toEqual(expected)
    await nextTurn()
  }
})

it('does what comes while it works in a later turn', async () => {
  const turns = new FewATurn(2)
  const done: string[] = []
  turns.add('one', () => {
    done.push('first')
    turns.add('one', () => void done.push('its own'))
  })
  await nextTurn()
  await nextTurn()
  expect(done).toEqual(['first', 'its own'])
})

it('does what somebody adds before most of what somebody else did', async () => {
  const turns = new FewATurn(2)
  const done: string[] = []
  for (let piece = 1; piece <= 100; piece++) turns.add('one', () => void done.push('one'))
  turns.add('other', () => void done.push('other'))
  await nextTurn()
  await nextTurn()
  expect(done).toContain('other')
})
