import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { lockFile } from '../../src/engine/lib/file-lock.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { Client } from './client.ts'
import { startService } from './service.ts'

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

it('every script that npm runs replaces the shell, which would keep a signal for itself, and runs on the pinned Node', () => {
  for (const [name, script] of Object.entries(scripts))
    expect({ name, script }).toEqual({
      name,
      script: expect.stringMatching(/^exec with-pinned-node |^npm run \S+( && npm run \S+)+$/),
    })
})

it('npm start ends when npm is told to, with its port and its lock, and all that was promised is kept', async () => {
  const DATA_DIR = temporaryFolder()
  const npm = await startService({ DATA_DIR }, ['npm', 'start'])
  const pet = await new Client(npm).create('Rex')
  await npm.end('SIGTERM')
  await expect(fetch(npm.url)).rejects.toThrow()
  const lock = lockFile(join(DATA_DIR, 'server.lock'), 0)
  expect(lock).toBeDefined()
  lock?.[Symbol.dispose]()
  expect(npm.output()).toContain('"msg":"closed"')
  const again = new Client(await startService({ DATA_DIR }))
  expect((await again.get(pet.id)).body).toEqual(pet)
})

it.each(['SIGINT', 'SIGTERM'] as const)(
  '%s twice, from the terminal and passed on by npm, ends in order',
  async (signal) => {
    const service = await startService({ DATA_DIR: temporaryFolder() })
    process.kill(service.pid, signal)
    await vi.waitFor(() => expect(service.output()).toContain('"msg":"closing"'))
    process.kill(service.pid, signal)
    expect(await service.ended).toBe(0)
    expect(service.output()).toContain('"msg":"closed"')
  },
)
