import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { Client, type Pet } from './client.ts'
import { changeLog, replaceInLog } from './embedded-log.ts'
import { petstore, startService, stop } from './service.ts'

/** A folder with so many pets, each of one event, which nobody serves any more. */
async function served(count: number) {
  const environment = { DATA_DIR: temporaryFolder() }
  const service = await startService(environment)
  const client = new Client(service)
  const pets: Pet[] = []
  for (let i = 0; i < count; i++) pets.push(await client.create(`pet ${i}`))
  await stop(service)
  return { environment, pets }
}

async function expectRefused(client: Client, offset: number): Promise<void> {
  const { status, body } = await client.post({ name: 'More', categoryId: 1 })
  const message = expect.stringContaining(`The event log is damaged at offset ${offset} (`)
  expect([status, body]).toEqual([503, { code: 'event_log_unavailable', message, status: 503 }])
}

async function checkOf(client: Client, path: string) {
  const { status, body } = await client.request(path)
  return [status, (body as { checks: Record<string, unknown> }).checks.projector]
}

it('an embedded log with a changed byte: reads go on, all that reads the log ends there by name, nothing is written', async () => {
  const { environment, pets } = await served(30)
  replaceInLog(environment.DATA_DIR, '"name":"pet 12"', '"name":"pet 13"')
  const service = await startService(environment)
  const client = new Client(service)
  expect(await client.list()).toEqual(pets)

  const history = (offset: number) => client.request(`/v1/pets/${pets[offset]?.id}/events`)
  expect(await history(12)).toMatchObject({ status: 503, body: { code: 'event_log_unavailable' } })
  expect((await history(20)).status).toBe(200)
  await expectRefused(client, 12)
  const { events } = await client.told(12)
  expect(events.map(({ subject }) => subject)).toEqual(pets.slice(0, 12).map(({ id }) => String(id)))
  const projector = { undecodable: [{ partition: 0, offset: 12, reason: expect.any(String) }] }
  expect(await checkOf(client, '/livez')).toMatchObject([200, { status: 'undecodable', ...projector }])
  expect(await checkOf(client, '/readyz')).toMatchObject([200, projector])
  expect((await client.request('/metrics')).text).toContain('petstore_undecodable_batches 1')
  expect(await client.list()).toEqual(pets)

  const backup = join(temporaryFolder(), 'backup')
  const commands = [['verify'], ['rebuild'], ['doctor'], ['backup', backup]]
  const ended = await Promise.all(commands.map((args) => petstore(environment, ...args)))
  expect(ended.map(({ code }) => code)).toEqual([3, 3, 1, 1])
  for (const { output, errors } of ended) expect(output + errors).toContain('The event log is damaged at offset 12 (')
  expect(readdirSync(backup)).toEqual([])
  expect(await client.list()).toEqual(pets)
})

it('an embedded log without its last events: reads go on from the start, and nothing is written', async () => {
  const { environment, pets } = await served(30)
  changeLog(environment.DATA_DIR, 'DELETE FROM records WHERE "offset" > 24')
  const service = await startService(environment)
  const client = new Client(service)
  await expectRefused(client, 25)
  expect(await client.list()).toEqual(pets)
  await vi.waitFor(async () => expect(await checkOf(client, '/livez')).toMatchObject([200, { status: 'undecodable' }]))
  expect(await client.list()).toEqual(pets)
})
