import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { Client, createMany, createOnce, expectExactly, type Pet } from './client.ts'
import { MixedLoad } from './mixed-load.ts'
import { describeWithPreviousRelease } from './previous-release.ts'
import { SeededPets } from './seeded-pets.ts'
import { brokerEnvironment, expectVerified, type ServiceProcess, startService } from './service.ts'

const patience = { timeout: 60_000, interval: 50 }

/** A request that an instance of the other release was sent is answered as there. */
async function expectReplayed(client: Client, pet: Pet): Promise<void> {
  expect(await createOnce(client, pet.name)).toEqual({ pet, isReplayed: true })
}

/** The other release answers a request that is sent again. */
async function expectOneRequest(sent: ServiceProcess, retried: ServiceProcess): Promise<void> {
  const { pet } = await createOnce(new Client(sent), sent.url)
  await expectReplayed(new Client(retried), pet)
}

/** The release before knows no orders: it shows a pet as it was created. */
async function expectOrderPassedOver(previous: ServiceProcess, present: ServiceProcess): Promise<void> {
  const [there, here] = [new Client(previous), new Client(present)]
  const pet = await here.create('Rex')
  await here.order(pet.id)
  const later = await here.create('Bello')
  await vi.waitFor(async () => expect((await there.get(later.id)).body).toEqual(later), patience)
  expect((await there.get(pet.id)).body).toEqual(pet)
  expect((await here.get(pet.id)).body).toEqual({ ...pet, status: 'pending' })
}

async function untilListed(service: ServiceProcess, count: number): Promise<void> {
  await vi.waitFor(async () => expect(await new Client(service).list()).toHaveLength(count), patience)
}

async function stop(service: ServiceProcess): Promise<void> {
  expect(await service.end('SIGTERM'), service.output()).toBe(0)
}

describeWithPreviousRelease('the release before this one', (previous) => {
  it('is replaced on its data folder, comes back, and is replaced again', async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    const before = await startService(environment, previous)
    const pets = await createMany(new Client(before), 60)
    const { pet: once } = await createOnce(new Client(before), 'before')
    await stop(before)

    const present = await startService(environment)
    const client = new Client(present)
    await expectExactly(client, [...pets, once])
    await expectReplayed(client, once)
    const order = await client.order(once.id)
    await stop(present)

    const back = await startService(environment, previous)
    await expectExactly(new Client(back), [...pets, once]) // it knows no orders
    pets.push((await createOnce(new Client(back), 'back')).pet)
    await stop(back)

    const again = new Client(await startService(environment))
    await expectExactly(again, [...pets, { ...once, status: 'pending' }])
    expect((await again.getOrder(order.id)).body).toEqual(order)
    await expectVerified(environment)
  })

  describeWithBrokers('on Kafka and Redis', (brokers) => {
    it('is replaced while both serve, and comes back, and nobody sees an answer that is wrong or old', async () => {
      const environment = brokerEnvironment(brokers)
      const before = await startService(environment, previous)
      const seeded = new SeededPets(200)
      await seeded.append(environment)
      await untilListed(before, seeded.count)
      const load = new MixedLoad([before], seeded)
      await load.until(10)

      const present = await startService(environment)
      await load.turnTo([before, present])
      await load.until(20)
      await load.turnTo([present])
      await stop(before)

      const back = await startService(environment, previous)
      await load.turnTo([present, back])
      await load.until(20)
      await load.turnTo([back])
      await stop(present)

      const again = await startService(environment)
      await load.turnTo([back, again])
      await load.until(20)
      expect((await load.expectTrue()).count(/^5/)).toBe(0)

      await expectOneRequest(back, again)
      await expectOneRequest(again, back)
      await expectOrderPassedOver(back, again)
      await stop(back)
      await expectVerified(environment)
    })
  })
})
