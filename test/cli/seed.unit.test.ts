import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { addSeedCommand } from '../../src/cli/seed.ts'

beforeEach(() => {
  vi.stubEnv('PETSTORE_KEY', 'any')
  onTestFinished(() => void vi.unstubAllEnvs())
})

/** Rejects with what the command says; with 'it goes on' if that takes longer than any answer. */
async function seed(url: string): Promise<void> {
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} })
  addSeedCommand(program)
  const waited = delay(2000, undefined, { ref: false }).then(() => Promise.reject(new Error('it goes on')))
  await Promise.race([program.parseAsync(['seed', '1', '--url', url], { from: 'user' }), waited])
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
})
