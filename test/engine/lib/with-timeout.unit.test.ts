import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { unlessAborted } from '../../../src/engine/lib/with-timeout.ts'

const never = new Promise<string>(() => {})

it.each([
  ['resolves', async () => 'done', 'done'],
  ['rejects', () => Promise.reject(new Error('failed')), 'failed'],
])('what %s does so unless its signal is aborted, which remembers nothing of it', async (_, settle, outcome) => {
  const { signal } = new AbortController()
  expect(await unlessAborted(signal, settle()).catch(({ message }: Error) => message)).toBe(outcome)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

it.each(['before', 'meanwhile'])('what does not settle is undefined once its signal is aborted: %s', async (when) => {
  const controller = new AbortController()
  if (when === 'before') controller.abort()
  const outcome = unlessAborted(controller.signal, never)
  controller.abort()
  expect(await outcome).toBeUndefined()
})
