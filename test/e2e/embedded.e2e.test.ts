import { expect, it, vi } from 'vitest'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { shared } from '../lib/when-done.ts'
import {
  type Answer,
  Client,
  codeOf,
  createMany,
  expectExactly,
  expectExactText,
  keyed,
  type Order,
  outcomeOf,
} from './client.ts'
import { forgetBlock } from './embedded-log.ts'
import { Load } from './load.ts'
import { expectRefused, petstoreJson, petstoreOutput, startService } from './service.ts'

const started = shared(async () => {
  const environment = { DATA_DIR: temporaryFolder() }
  return { environment, service: await startService(environment) }
})

it('the embedded service shows a pet to the very next GET, and gives back every digit and character', async () => {
  const client = new Client(started().service)
  for (let i = 0; i < 100; i++) {
    const pet = await client.create(`pet ${i}`)
    expect((await client.get(pet.id)).body).toEqual(pet)
  }
  await expectExactText(client)
})

it('the embedded service follows keys that the command line issues and revokes', async () => {
  const { environment, service } = started()
  const key = (await petstoreOutput(environment, 'keys', 'issue', '--name', 'a partner')).trim()
  const client = new Client(service, key)
  const expectStatus = (status: number) =>
    vi.waitFor(async () => expect((await client.request('/v1/pets')).status).toBe(status))
  await expectStatus(200)
  const [{ id }] = await petstoreJson(environment, 'keys', 'list')
  await petstoreOutput(environment, 'keys', 'revoke', id, '--yes')
  await expectStatus(401)
})

it('the embedded service is one per folder, says so to a second, and loses nothing to kill -9', async () => {
  const { environment, service } = started()
  await expectRefused(environment, new RegExp(`Another server is using ${environment.DATA_DIR}`))
  const client = new Client(service)
  await createMany(client, 300)
  const pets = await client.list()
  await service.end('SIGKILL')
  await expectExactly(new Client(await startService(environment)), pets)
})

it('a block of ids that is given out twice costs no order: each gets another id, and nothing is parked', async () => {
  const environment = { DATA_DIR: temporaryFolder() }
  const before = await startService(environment)
  const client = new Client(before)
  const pet = await client.create('Rex')
  const taken: number[] = []
  for (let i = 0; i < 10; i++) {
    const { id } = await client.order(pet.id)
    taken.push(id)
    expect((await client.update(id, 'cancelled')).status).toBe(200)
  }
  const pets = [pet, ...(await Promise.all(['Mia', 'Tom', 'Ada', 'Bo'].map((name) => client.create(name))))]
  await before.end('SIGTERM')
  forgetBlock(environment.DATA_DIR)

  const after = new Client(await startService(environment))
  const place = () => Promise.all(pets.map(({ id }) => after.place(id, id === pet.id ? {} : keyed(`order ${id}`))))
  const placed = await place()
  expect(placed.map(outcomeOf)).toEqual(pets.map(() => '201'))
  const ids = placed.map(({ body }) => (body as Order).id)
  expect(new Set([...taken, ...ids]).size).toBe(taken.length + ids.length)
  const [unkeyed, ...again] = await place()
  expect(codeOf(unkeyed as Answer)).toBe('pet_not_available')
  expect(again.map(({ body }) => body)).toEqual(placed.slice(1).map(({ body }) => body))
  expect(await petstoreOutput(environment, 'parked', 'list')).toBe('No event is parked.\n')
})

it('SIGTERM ends the embedded service, and no request fails while it drains', async () => {
  const service = await startService({ DATA_DIR: temporaryFolder() })
  const load = new Load([service], 8)
  await load.until(50)
  const probe = vi.waitFor(async () => expect((await fetch(`${service.url}/readyz`)).status).toBe(503))
  const code = await service.end('SIGTERM')
  await Promise.all([probe, load.stop()])
  expect({ code, failures: load.failed }).toEqual({ code: 0, failures: [] })
})
