import { expect, it, vi } from 'vitest'
import { untilReady } from '../../../src/engine/testing/until-ready.ts'

it('asks until the service is ready', async () => {
  const statuses = [503, 503, 200]
  await untilReady(async () => ({ status: statuses.shift() ?? 0, body: '' }))
  expect(statuses).toEqual([])
})

it('gives up after 30 s, with what the service said last', async () => {
  vi.useFakeTimers()
  const asked = expect(untilReady(async () => ({ status: 503, body: 'rebuilding' }))).rejects.toThrow(
    'The service is not ready: rebuilding',
  )
  await vi.advanceTimersByTimeAsync(31_000)
  await asked
})
