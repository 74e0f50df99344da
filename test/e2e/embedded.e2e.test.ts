import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { Client, expectExactly, expectExactText, inParallel, statuses } from './client.ts'
import { dataFolder, startRefused, startService } from './service-process.ts'

const run = promisify(execFile)

async function petstore(dataDir: string, ...args: string[]): Promise<string> {
  const { PATH } = process.env
  const { stdout } = await run(process.execPath, ['src/cli.ts', ...args], { env: { PATH, DATA_DIR: dataDir } })
  return stdout.trim()
}

describe('the embedded default', () => {
  it('keeps 1,000 pets over kill -9: by id, in the list and by status, once each', async () => {
    const DATA_DIR = dataFolder()
    const before = await startService({ DATA_DIR })
    const client = new Client(before)
    const pets = await inParallel(1000, 16, (i) => client.create(`pet ${i}`, statuses[i % 3]))
    await before.end('SIGKILL')
    const after = await startService({ DATA_DIR })
    await expectExactly(new Client(after), pets)
  })

  it('shows a pet to the very next GET', async () => {
    const client = new Client(await startService({ DATA_DIR: dataFolder() }))
    for (let i = 0; i < 100; i++) {
      const pet = await client.create(`pet ${i}`)
      expect((await client.get(pet.id)).body).toEqual(pet)
    }
  })

  it('gives back every digit and character', async () => {
    await expectExactText((await startService({ DATA_DIR: dataFolder() })).url)
  })

  it('makes the read models again when their file is gone', async () => {
    const DATA_DIR = dataFolder()
    const before = await startService({ DATA_DIR })
    const pets = await inParallel(50, 4, (i) => new Client(before).create(`pet ${i}`, statuses[i % 3]))
    expect(await before.end('SIGTERM')).toBe(0)
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(DATA_DIR, `read-models.db${suffix}`), { force: true })
    await expectExactly(new Client(await startService({ DATA_DIR })), pets)
  })

  it('makes the read models again when their file is of a release with another layout', async () => {
    const DATA_DIR = dataFolder()
    const before = await startService({ DATA_DIR })
    const pets = await inParallel(50, 4, (i) => new Client(before).create(`pet ${i}`, statuses[i % 3]))
    expect(await before.end('SIGTERM')).toBe(0)
    const db = new DatabaseSync(join(DATA_DIR, 'read-models.db'))
    db.exec('ALTER TABLE generation RENAME COLUMN name TO title; PRAGMA user_version = 99')
    db.close()
    await expectExactly(new Client(await startService({ DATA_DIR })), pets)
  })

  it('runs one server per folder, and says so to a second', async () => {
    const DATA_DIR = dataFolder()
    const first = await startService({ DATA_DIR })
    const { output, code } = await startRefused({ DATA_DIR })
    expect(code).toBe(1)
    expect(output).toContain(`Another server is running on ${DATA_DIR}`)
    await first.end('SIGKILL')
    await startService({ DATA_DIR })
  })

  it('the first start issues a key that works, and prints it that once', async () => {
    const DATA_DIR = dataFolder()
    const first = await startService({ DATA_DIR, API_KEYS: '' })
    const key = /PETSTORE_KEY=(pk_\S+)/.exec(first.output())?.[1]
    const headers = { authorization: `Bearer ${key}` }
    expect((await fetch(`${first.url}/v1/pets`, { headers })).status).toBe(200)
    await first.end('SIGTERM')
    const second = await startService({ DATA_DIR, API_KEYS: '' })
    expect(second.output()).not.toContain('pk_')
    expect((await fetch(`${second.url}/v1/pets`, { headers })).status).toBe(200)
  })

  it('follows keys that the command line issues and revokes', async () => {
    const DATA_DIR = dataFolder()
    const { url } = await startService({ DATA_DIR })
    const statusWith = async (key: string) =>
      (await fetch(`${url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } })).status
    const key = await petstore(DATA_DIR, 'keys', 'issue', '--name', 'a partner')
    await vi.waitFor(async () => expect(await statusWith(key)).toBe(200), { timeout: 5000 })
    const [id = ''] = (await petstore(DATA_DIR, 'keys', 'list')).split(' ')
    await petstore(DATA_DIR, 'keys', 'revoke', id)
    await vi.waitFor(async () => expect(await statusWith(key)).toBe(401), { timeout: 5000 })
  })

  it.each([
    ['PORT', { PORT: 'eighty' }],
    ['KAFKA_BROKERS', { REDIS_URL: 'redis://127.0.0.1' }],
    ['ROLE', { ROLE: 'api' }],
  ])('a bad %s stops the boot and is named', async (name, environment) => {
    const { output, code } = await startRefused({ DATA_DIR: dataFolder(), ...environment })
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining(name) })
  })

  it('SIGTERM ends it within 10 s, and no request fails while it drains', async () => {
    const service = await startService({ DATA_DIR: dataFolder() })
    const client = new Client(service)
    const failures: unknown[] = []
    let refused = 0
    let answered = 0
    const clients = Array.from({ length: 8 }, async (_, n) => {
      while (refused === 0) {
        try {
          const { status } = await client.post({ name: `pet of ${n}`, categoryId: 1 })
          if (status === 201) answered++
          else failures.push(status)
        } catch (error) {
          const { code } = (error as { cause: { code?: string } }).cause
          if (code === 'ECONNREFUSED') refused++
          else failures.push(error)
        }
      }
    })
    await vi.waitFor(() => expect(answered).toBeGreaterThan(50))
    const probes = vi.waitFor(async () => expect((await fetch(`${service.url}/readyz`)).status).toBe(503))
    const code = await service.end('SIGTERM')
    await Promise.all([...clients, probes])
    expect({ code, failures }).toEqual({ code: 0, failures: [] })
  })
})
