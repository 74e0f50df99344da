import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { RequestTurns } from '../../../src/engine/http/guards/request-turns.ts'

/** Turns for requests that take a millisecond each, and whose they were that have begun. */
function openTurns() {
  let nowMs = 1000
  const time = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  onTestFinished(() => time.mockRestore())
  const turns = new RequestTurns()
  const begun: string[] = []
  const take = (owner: string) =>
    turns.take(owner, () => {
      begun.push(owner)
      nowMs++
    })
  return { begun, take }
}

it('requests that arrive together begin together, behind the turn of the event loop', async () => {
  const { begun, take } = openTurns()
  for (let turn = 1; turn <= 30; turn++) {
    for (let i = 0; i < 5; i++) take('a')
    expect(begun).toHaveLength(5 * (turn - 1))
    await nextTurn()
    expect(begun).toHaveLength(5 * turn)
  }
})

it('what a turn of the event loop has no time for waits for the next ones, where owners take turns', async () => {
  const { begun, take } = openTurns()
  for (let i = 0; i < 900; i++) take('a')
  for (const owner of ['b', 'c', 'b']) take(owner)
  await nextTurn()
  expect(begun).toEqual(['a', 'b', 'c', 'a', 'b'])
  take('d')
  await nextTurn()
  expect(begun.slice(5)).toEqual(['a', 'd', 'a', 'a', 'a'])
  while (begun.length < 904) await nextTurn()
  expect(begun).toHaveLength(904)
})

it('one request at least begins in a turn, however long it takes', async () => {
  const turns = new RequestTurns()
  const time = vi.spyOn(performance, 'now')
  onTestFinished(() => time.mockRestore())
  let [nowMs, begun] = [1000, 0]
  time.mockImplementation(() => (nowMs += 100))
  for (let i = 0; i < 3; i++) turns.take('a', () => begun++)
  for (let turn = 1; turn <= 3; turn++) {
    await nextTurn()
    expect(begun).toBe(turn)
  }
})
