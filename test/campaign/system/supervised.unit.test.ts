import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { temporaryFolder } from '../../lib/temporary-folder.ts'
import { Supervised, type SupervisedOptions } from './supervised.ts'

/** A start with a short key is refused. */
async function supervised(apiKey: string, options: Partial<SupervisedOptions> = {}): Promise<Supervised> {
  const folder = temporaryFolder()
  const stack = new AsyncDisposableStack()
  onTestFinished(() => stack.disposeAsync())
  const environment = { DATA_DIR: join(folder, 'data'), API_KEYS: apiKey }
  return await Supervised.start(stack, { name: 'service', folder, environment, canMount: false, ...options })
}

async function untilStart(count: number, service: Supervised): Promise<void> {
  await vi.waitFor(() => expect(service.instance).toBe(`service#${count}`), { timeout: 30_000 })
}

it('tells of an end that nobody asked for, with what the process wrote', async () => {
  const service = await supervised('short')
  await untilStart(2, service)
  expect(service.endedBadly).toEqual([expect.stringMatching(/^service#1, code 1: .*petstore: API_KEYS contains/s)])
})

it('does not tell of an end by design', async () => {
  const service = await supervised('short', { endsAfter: /API_KEYS contains/ })
  await untilStart(2, service)
  expect(service.endedBadly).toEqual([])
})

it('does not tell of an end that was asked for, and starts the process again', async () => {
  const service = await supervised('a key that is long enough')
  expect(await service.end('SIGKILL')).toBe(true)
  await untilStart(2, service)
  expect(service.endedBadly).toEqual([])
})
