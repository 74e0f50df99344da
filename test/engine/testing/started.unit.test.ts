import { readdirSync } from 'node:fs'
import { afterEach, expect, it, vi } from 'vitest'
import { defineService } from '../../../src/engine/index.ts'
import { startForTest } from '../../../src/engine/testing/index.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'
import { theatre } from '../theatre/theatre.ts'
import { atWork, expectNoMoreAtWork } from './at-work.ts'

afterEach(() => void vi.unstubAllEnvs())

/** Has all temporary files of the test. */
function ownFolder(): string {
  const folder = temporaryFolder()
  vi.stubEnv('TMPDIR', folder)
  return folder
}

it('serves all of a service, with a key of every scope, and leaves nothing behind', async () => {
  const [folder, before] = [ownFolder(), atWork()]
  const { url, key, close } = await startForTest(theatre)
  const ask = (path: string, body?: object) =>
    fetch(url + path, {
      headers: {
        authorization: `Bearer ${key}`,
        connection: 'close',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(await (await ask('/v1/seats')).json()).toEqual([])
  expect((await ask('/v1/seats', { name: 'A1', rowId: 7 })).status).toBe(201)
  expect((await ask('/v1/bookings', { seatId: 1 })).status).toBe(201)
  expect(await (await ask('/v1/seats/1')).json()).toMatchObject({ id: 1, status: 'pending' })
  expect((await ask('/console/api/status')).status).toBe(200)
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^theatre-/)])
  for (const _ of ['once', 'again']) await close()
  expect(readdirSync(folder)).toEqual([])
  await expect(fetch(`${url}/livez`)).rejects.toThrow('fetch failed')
  await expectNoMoreAtWork(before)
})

it('is as its settings say, and two run beside each other', async () => {
  await using other = await startForTest(theatre)
  const taken = { PORT: new URL(other.url).port, DATA_DIR: '/dev/null' }
  await using house = await startForTest(theatre, { CONSOLE: 'false', ...taken })
  expect((await fetch(`${house.url}/console`)).status).toBe(404)
  expect((await fetch(`${other.url}/console`)).status).toBe(200)
  expect((await fetch(`${other.url}/v1/seats`, { headers: { authorization: `Bearer ${house.key}` } })).status).toBe(401)
})

it('says why a service cannot be started, and leaves no folder', async () => {
  const folder = ownFolder()
  await expect(startForTest(theatre, { ROLE: 'api' })).rejects.toThrow('ROLE=api needs KAFKA_BROKERS and REDIS_URL')
  const wrong = defineService({ ...theatre.service, title: '', streams: [] })
  await expect(startForTest(wrong)).rejects.toThrow('streams: there is none')
  expect(readdirSync(folder)).toEqual([])
})
