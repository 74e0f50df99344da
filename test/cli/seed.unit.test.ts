import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as timers from 'node:timers/promises'
import { Command } from 'commander'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { addSeedCommand } from '../../src/store/seed.ts'

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
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} })
  addSeedCommand(program)
  await program.parseAsync(['seed', '1', '--url', url], { from: 'user' })
}

it.each(['localhost:3000', 'service', 'ftp://localhost', 'http://'])('refuses the URL %s at once', async (url) => {
  await expect(seed(url)).rejects.toThrow('It must begin with http:// or https://')
})

it('ends with the answer when the quota of the day is used up, however long Retry-After is', async () => {
  const body = JSON.stringify({ code: 'quota_exceeded', message: 'This API key has added the 5 pets', status: 429 })
  const server = createServer((_request, response) => response.writeHead(429, { 'retry-after': '80000' }).end(body))
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await expect(seed(`http://127.0.0.1:${port}`)).rejects.toThrow('has added the 5 pets')
  expect(timers.setTimeout).not.toHaveBeenCalled()
})

it('tries for ten seconds where nothing answers, and says so', async () => {
  await expect(seed('http://127.0.0.1:1')).rejects.toThrow('does not answer: start the service')
  expect(vi.mocked(timers.setTimeout).mock.calls).toEqual(Array(19).fill([500]))
})
