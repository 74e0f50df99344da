import * as timers from 'node:timers/promises'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { seed as command } from '../../src/store/seed.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { runHere } from './run-here.ts'

/** As if no time passed. */
vi.mock(import('node:timers/promises'), () => ({ setTimeout: vi.fn() }))

beforeEach(() => {
  vi.stubEnv('PETSTORE_KEY', 'any')
  onTestFinished(() => {
    vi.unstubAllEnvs()
    vi.clearAllMocks()
  })
})

/** Rejects with what the command says. */
async function seed(url: string): Promise<void> {
  await command.run(['1', '--url', url], 'http://127.0.0.1:1')
}

it.each(['localhost:3000', 'service', 'ftp://localhost', 'http://'])('refuses the URL %s at once', async (url) => {
  await expect(seed(url)).rejects.toThrow('--url must begin with http:// or https://')
})

it('tries for ten seconds where nothing answers, and says so', async () => {
  await expect(seed('http://127.0.0.1:1')).rejects.toThrow('does not answer: start the service')
  expect(vi.mocked(timers.setTimeout).mock.calls).toEqual(Array(19).fill([500]))
})

it.each([
  ['seed one', /whole number/],
  ['seed 1 --orders 2', /--orders 2 is more than/],
  ['seed --help', /^$/],
])('%s is told how it is used', async (line, named) => {
  const { code, errors } = await runHere({ DATA_DIR: temporaryFolder() }, line)
  expect([code, errors]).toEqual([line.endsWith('--help') ? 0 : 2, expect.stringMatching(named)])
})
