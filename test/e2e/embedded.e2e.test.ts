import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, vi } from 'vitest'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { Client, createMany, expectExactly, expectExactText } from './client.ts'
import { Load } from './load.ts'
import { expectRefused, petstoreJson, petstoreOutput, startService } from './service.ts'

describe('the embedded default', () => {
  it('keeps 1,000 pets over kill -9: by id, in the list and by status, once each', async () => {
    const DATA_DIR = temporaryFolder()
    const before = await startService({ DATA_DIR })
    const pets = await createMany(new Client(before), 1000)
    await before.end('SIGKILL')
    await expectExactly(new Client(await startService({ DATA_DIR })), pets)
  })

  it('shows a pet to the very next GET, and gives back every digit and character', async () => {
    const client = new Client(await startService({ DATA_DIR: temporaryFolder() }))
    for (let i = 0; i < 100; i++) {
      const pet = await client.create(`pet ${i}`)
      expect((await client.get(pet.id)).body).toEqual(pet)
    }
    await expectExactText(client)
  })

  it.each([
    [
      'is gone',
      (file: string) => {
        for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
      },
    ],
    [
      'is of a release with another layout',
      (file: string) => {
        const db = new DatabaseSync(file)
        db.exec('ALTER TABLE generation RENAME COLUMN name TO title; PRAGMA user_version = 99')
        db.close()
      },
    ],
  ])('makes the read models again when their file %s', async (_, change) => {
    const DATA_DIR = temporaryFolder()
    const before = await startService({ DATA_DIR })
    const pets = await createMany(new Client(before), 50)
    expect(await before.end('SIGTERM')).toBe(0)
    change(join(DATA_DIR, 'read-models.db'))
    await expectExactly(new Client(await startService({ DATA_DIR })), pets)
  })

  it('runs one server per folder, and says so to a second', async () => {
    const DATA_DIR = temporaryFolder()
    const first = await startService({ DATA_DIR })
    await expectRefused({ DATA_DIR }, new RegExp(`Another server is using ${DATA_DIR}`))
    await first.end('SIGKILL')
    await startService({ DATA_DIR })
  })

  it('writes no traceparent into an event that is not valid, and refuses no request for it', async () => {
    const DATA_DIR = temporaryFolder()
    const client = new Client(await startService({ DATA_DIR }))
    const ids = '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331'
    const valid = `00-${ids}-01`
    const malformed = [
      `ff-${ids}-01`,
      `00-${ids.toUpperCase()}-01`,
      `00-${ids.replaceAll(/\w/g, '0')}-01`,
      `${valid}-x`,
    ]
    for (const traceparent of [valid, ...malformed, `${valid}, ${valid}`, '"', 'x'.repeat(8000)]) {
      expect((await client.post({ name: 'Rex', categoryId: 7 }, { traceparent })).status).toBe(201)
    }
    const log = new DatabaseSync(join(DATA_DIR, 'event-log.db'), { readOnly: true })
    const values = log.prepare('SELECT CAST(value AS TEXT) AS value FROM records').all()
    log.close()
    const found = values.map(({ value }) => JSON.parse(String(value)).traceparent)
    expect(found.toSorted()).toEqual([valid, ...Array(7).fill(undefined)])
  })

  const statusWith = async (key: string | undefined, { url }: { url: string }) =>
    (await fetch(`${url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } })).status

  it('the first start issues a key that works, and prints it that once', async () => {
    const environment = { DATA_DIR: temporaryFolder(), API_KEYS: '' }
    const first = await startService(environment)
    const key = /PETSTORE_KEY=(petstore_\S+)/.exec(first.output())?.[1]
    expect(await statusWith(key, first)).toBe(200)
    await first.end('SIGTERM')
    const second = await startService(environment)
    expect(second.output()).not.toContain('petstore_')
    expect(await statusWith(key, second)).toBe(200)
  })

  it('follows keys that the command line issues and revokes', async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    const service = await startService(environment)
    const key = (await petstoreOutput(environment, 'keys', 'issue', '--name', 'a partner')).trim()
    await vi.waitFor(async () => expect(await statusWith(key, service)).toBe(200), { timeout: 5000 })
    const [{ id }] = await petstoreJson(environment, 'keys', 'list')
    await petstoreOutput(environment, 'keys', 'revoke', id, '--yes')
    await vi.waitFor(async () => expect(await statusWith(key, service)).toBe(401), { timeout: 5000 })
  })

  it('SIGTERM ends it within 10 s, and no request fails while it drains', async () => {
    const service = await startService({ DATA_DIR: temporaryFolder() })
    const load = new Load([new Client(service)], 8)
    await load.until(50)
    const probe = vi.waitFor(async () => expect((await fetch(`${service.url}/readyz`)).status).toBe(503))
    const code = await service.end('SIGTERM')
    await Promise.all([probe, load.stop()])
    expect({ code, failures: load.told.filter(({ status }) => status !== 201) }).toEqual({ code: 0, failures: [] })
  })
})
