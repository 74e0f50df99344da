import { expect, it, vi } from 'vitest'
import { Turns } from '../../../src/engine/commands/turns.ts'
import { eventually } from '../../lib/eventually.ts'

const late = () => new Error('late')

it('work waits for all that came before it under its name, failed or not, be it asked for while that is done', async () => {
  const turns = new Turns()
  const second = Promise.withResolvers<void>()
  const third = vi.fn(async () => {})
  const failing = turns.take('a', 1000, () => Promise.reject(late()), late)
  const working = [turns.take('a', 1000, () => second.promise, late)]
  await expect(failing).rejects.toThrow()
  await new Promise(setImmediate)
  working.push(turns.take('a', 1000, third, late))
  await new Promise(setImmediate)
  expect(third).not.toHaveBeenCalled()
  second.resolve()
  await Promise.all(working)
  expect(third).toHaveBeenCalledOnce()
  await eventually(() => expect(turns.size).toBe(0))
})

it('work that gives up waiting lets nobody pass those before it', async () => {
  const turns = new Turns()
  const first = Promise.withResolvers<void>()
  const begun = vi.fn(async () => {})
  const working = turns.take('a', 1000, () => first.promise, late)
  await expect(turns.take('a', 1, begun, late)).rejects.toThrow('late')
  const waiting = turns.take('a', 1000, begun, late)
  await new Promise(setImmediate)
  expect(begun).not.toHaveBeenCalled()
  first.resolve()
  await Promise.all([working, waiting])
  expect(begun).toHaveBeenCalledOnce()
})
