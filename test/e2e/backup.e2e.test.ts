import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { Client, createMany, expectExactly, type Pet } from './client.ts'
import { expectVerified, petstore, petstoreJson, petstoreOutput, startService } from './service.ts'

it('a backup under full write load has every pet that was answered before, and goes on as another log', async () => {
  const environment = { DATA_DIR: temporaryFolder() }
  const service = await startService(environment)
  const client = new Client(service)
  const answered: Pet[] = await createMany(client, 200)
  const load = { isStopped: false }
  const writers = Array.from({ length: 16 }, async (_, n) => {
    while (!load.isStopped) answered.push(await client.create(`pet of writer ${n}`))
  })
  await vi.waitFor(() => expect(answered.length).toBeGreaterThan(300), { timeout: 30_000 })
  const before = [...answered]
  const folder = join(temporaryFolder(), 'backup')
  const { events } = await petstoreJson(environment, 'backup', folder)
  load.isStopped = true
  await Promise.all(writers)
  expect(events).toBeGreaterThanOrEqual(before.length)
  expect(readdirSync(folder)).toContain('event-log.db')
  expect(statSync(folder).mode & 0o077).toBe(0)
  const token = (await client.get(before[0]?.id ?? 0, { 'consistency-token': '' })).headers.get('consistency-token')
  expect(token).toBeNull()
  const last = await client.post({ name: 'Last', categoryId: 1 })
  expect(await service.end('SIGTERM'), service.output()).toBe(0)

  const restored = { DATA_DIR: folder }
  const second = new Client(await startService(restored))
  const served = await second.list()
  expect(served.length).toBe(events)
  expect(served).toEqual(expect.arrayContaining(before))
  const more = await createMany(second, 20)
  await expectExactly(second, [...served, ...more])
  // What was given out after the backup does not fit what comes after it.
  const tag = { 'if-none-match': last.headers.get('etag') ?? '' }
  const stale = { 'consistency-token': last.headers.get('consistency-token') ?? '' }
  expect((await second.get(served[0]?.id ?? 0, stale)).status).toBe(400)
  expect((await second.get(more[0]?.id ?? 0, tag)).status).toBe(200)
  await expectVerified(restored)
})

it('the first start issues a key, and prints it that once; a backup has it, and takes the place of nothing', async () => {
  const environment = { DATA_DIR: temporaryFolder(), API_KEYS: '' }
  const service = await startService(environment)
  const key = /PETSTORE_KEY=(petstore_\S+)/.exec(service.output())?.[1] ?? ''
  const folder = join(temporaryFolder(), 'backup')
  expect(await petstoreOutput(environment, 'backup', folder)).toMatch(/^0 events and the API keys are in /)
  const { code, errors } = await petstore(environment, 'backup', folder)
  expect([code, errors]).toEqual([2, expect.stringContaining('is not empty')])
  const other = join(temporaryFolder(), 'other')
  mkdirSync(other)
  writeFileSync(join(other, 'mine'), '')
  expect((await petstore(environment, 'backup', other)).code).toBe(2)
  const restored = await startService({ DATA_DIR: folder, API_KEYS: '' })
  expect(restored.output()).not.toContain('petstore_')
  const headers = { authorization: `Bearer ${key}` }
  for (const { url } of [service, restored]) expect((await fetch(`${url}/v1/pets`, { headers })).status).toBe(200)
})
