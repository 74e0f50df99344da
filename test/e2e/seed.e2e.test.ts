import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, vi } from 'vitest'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { apiKey, Client } from './client.ts'
import { expectVerified, petstore, petstoreJson, startPetstore, startService } from './service.ts'

it('seed adds pets and orders, and after a break what is missing', async () => {
  const environment = { DATA_DIR: temporaryFolder(), RATE_LIMIT: '400/1' }
  const service = await startService(environment)
  const PORT = new URL(service.url).port
  const access = { ...environment, PORT, PETSTORE_KEY: apiKey }
  const client = new Client(service)
  const broken = startPetstore(access, 'seed', '300', '--orders', '30')
  await vi.waitFor(async () => expect((await client.list()).length).toBeGreaterThan(20), { timeout: 30_000 })
  await broken.end('SIGKILL')
  const first = await petstoreJson(access, 'seed', '300', '--orders', '30')
  expect(first).toMatchObject({ pets: 300, orders: 30 })
  expect(first.repeated).toBeGreaterThan(20)
  expect(await petstoreJson(access, 'seed', '300', '--orders', '30')).toMatchObject({ pets: 300, repeated: 300 })
  await vi.waitFor(async () => expect(await client.list()).toHaveLength(300), { timeout: 30_000, interval: 1000 })
  const statuses = (await client.listOrders()).map(({ status }) => status)
  expect(Object.groupBy(statuses, (status) => status)).toMatchObject({
    placed: { length: 10 },
    approved: { length: 10 },
    delivered: { length: 10 },
  })
  await petstoreJson(access, 'seed', '2', '--name', 'other', '--url', service.url)
  await expectVerified(environment)
})

it('seed says what is wrong: the key, or that nothing answers', async () => {
  const service = await startService({ DATA_DIR: temporaryFolder() })
  const wrong = await petstore({ PETSTORE_KEY: 'wrong' }, 'seed', '1', '--url', service.url)
  expect([wrong.code, wrong.errors]).toEqual([1, expect.stringContaining('unauthorized')])
  const away = await petstore({ PETSTORE_KEY: 'any' }, 'seed', '1', '--url', 'http://127.0.0.1:1')
  expect([away.code, away.errors]).toEqual([3, expect.stringContaining('does not answer')])
})

it('a command ends quietly when whoever reads it has seen enough', async () => {
  const environment = { DATA_DIR: temporaryFolder() }
  const client = new Client(await startService(environment))
  for (let turn = 0; turn < 3; turn++) await Promise.all(Array.from({ length: 100 }, () => client.create('Rex')))
  const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
  const command = `"${process.execPath}" "${cli}" events --json | head -n 1`
  const env = { PATH: process.env.PATH, ...environment }
  const { stdout, stderr } = await promisify(execFile)('sh', ['-c', command], { env })
  expect([JSON.parse(stdout).offset, stderr]).toEqual([0, ''])
})
