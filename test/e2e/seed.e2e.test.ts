import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, vi } from 'vitest'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { shared } from '../lib/when-done.ts'
import { apiKey, Client } from './client.ts'
import { expectVerified, petstore, petstoreJson, startPetstore, startService } from './service.ts'

const served = shared(async () => {
  const environment = { DATA_DIR: temporaryFolder(), RATE_LIMIT: '100/1' }
  const service = await startService(environment)
  return {
    environment,
    url: service.url,
    access: { ...environment, PORT: new URL(service.url).port, PETSTORE_KEY: apiKey },
  }
})

it('seed adds pets and orders, however slowly it may, and after a break what is missing', async () => {
  const { environment, url, access } = served()
  const client = new Client({ url })
  const broken = startPetstore(access, 'seed', '120', '--orders', '12')
  await vi.waitFor(async () => expect((await client.list()).length).toBeGreaterThan(20), { timeout: 30_000 })
  await broken.end('SIGKILL')
  const first = await petstoreJson(access, 'seed', '120', '--orders', '12')
  expect(first).toMatchObject({ pets: 120, orders: 12 })
  expect(first.repeated).toBeGreaterThan(20)
  await petstoreJson(access, 'seed', '2', '--name', 'other', '--url', url)
  expect(await client.list()).toHaveLength(122)
  const statuses = (await client.listOrders()).map(({ status }) => status)
  expect(Object.groupBy(statuses, (status) => status)).toMatchObject({
    placed: { length: 4 },
    approved: { length: 4 },
    delivered: { length: 4 },
  })
  await expectVerified(environment)
})

it('seed says that the key is wrong', async () => {
  const { code, errors } = await petstore({ PETSTORE_KEY: 'wrong' }, 'seed', '1', '--url', served().url)
  expect([code, errors]).toEqual([1, expect.stringContaining('unauthorized')])
})

it('a command ends quietly when whoever reads it has seen enough', async () => {
  const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
  const command = `"${process.execPath}" "${cli}" events --json | head -n 1`
  const env = { PATH: process.env.PATH, ...served().environment }
  const { stdout, stderr } = await promisify(execFile)('sh', ['-c', command], { env })
  expect([JSON.parse(stdout).offset, stderr]).toEqual([0, ''])
})
