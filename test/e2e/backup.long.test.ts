import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { Client, createMany, expectExactly, type Pet } from './client.ts'
import { expectRefused, expectVerified, petstore, petstoreJson, petstoreOutput, startService, stop } from './service.ts'

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
  await stop(service)

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

it('a start without the file of keys beside events issues a key, and says that those before are refused', async () => {
  const environment = { DATA_DIR: temporaryFolder(), API_KEYS: '' }
  const keyOf = ({ output }: { output(): string }) => /PETSTORE_KEY=(petstore_\S+)/.exec(output())?.[1] ?? ''
  const first = await startService(environment)
  const key = keyOf(first)
  await new Client(first, key).create('Rex')
  await first.end('SIGTERM')
  rmSync(join(environment.DATA_DIR, 'api-keys.json'))
  const second = await startService(environment)
  expect(second.output()).toContain('keys issued before are refused until it is restored from a backup')
  const statuses = [key, keyOf(second)].map(async (each) => (await new Client(second, each).request('/v1/pets')).status)
  expect(await Promise.all(statuses)).toEqual([401, 200])
})

it('a backup that is served goes on after kill -9, and is refused over the files of a process that was killed', async () => {
  const environment = { DATA_DIR: temporaryFolder() }
  const service = await startService(environment)
  const pets = await createMany(new Client(service), 20)
  const folder = join(temporaryFolder(), 'backup')
  await petstoreJson(environment, 'backup', folder)
  await createMany(new Client(service), 20)
  await service.end('SIGKILL')

  const file = join(environment.DATA_DIR, 'event-log.db')
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0)
  copyFileSync(join(folder, 'event-log.db'), file)
  await expectRefused(environment, /is not the file that \S+-wal belongs to, as when a backup is copied/)
  for (const each of ['-wal', '-shm']) rmSync(`${file}${each}`)
  const first = new Client(await startService(environment))
  await expectExactly(first, pets)

  const restored = { DATA_DIR: folder }
  const second = await startService(restored)
  const more = await createMany(new Client(second), 20)
  await second.end('SIGKILL')
  await expectExactly(new Client(await startService(restored)), [...pets, ...more])
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
  for (const each of [service, restored]) expect((await new Client(each, key).request('/v1/pets')).status).toBe(200)
})
