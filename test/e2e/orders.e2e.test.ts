import { describe, expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { Client, codeOf, keyed, type Order, outcomeOf, type Pet } from './client.ts'
import { brokerEnvironment, expectVerified, startRoles, startService } from './service.ts'

/** A pet is ordered, cancelled, ordered again, approved and delivered. */
async function expectLifeOfAPet(client: Client): Promise<void> {
  const pet = await client.create('Rex')
  const statusOf = async () => ((await client.get(pet.id)).body as Pet).status
  const first = await client.order(pet.id)
  expect(await statusOf()).toBe('pending')
  const rival = await client.place(pet.id)
  expect(outcomeOf(rival)).toBe('409 pet_not_available')
  expect((rival.body as { message: string }).message).toContain(String(first.id))
  expect((await client.update(first.id, 'cancelled')).status).toBe(200)
  expect(await statusOf()).toBe('available')

  const answer = await client.place(pet.id, keyed('again'))
  const second = answer.body as Order
  const etag = answer.headers.get('etag') ?? ''
  expect(answer.headers.get('location')).toBe(`/v1/store/orders/${second.id}`)
  const approved = await client.update(second.id, 'approved', { 'if-match': etag })
  expect(approved).toMatchObject({
    status: 200,
    body: { ...second, status: 'approved', updatedAt: expect.any(String) },
  })
  expect((await client.update(second.id, 'cancelled', { 'if-match': etag })).status).toBe(412)
  expect((await client.update(second.id, 'delivered')).status).toBe(200)
  const sold = (await client.get(pet.id)).body
  expect(sold).toEqual({ ...pet, status: 'sold' })
  expect(await client.list({ status: 'sold' })).toContainEqual(sold)
  expect(codeOf(await client.update(second.id, 'cancelled'))).toBe('order_transition_invalid')
  const again = await client.place(pet.id, keyed('again'))
  expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([201, second, 'true'])
  expect((await client.listOrders('delivered')).map(({ id }) => id)).toContain(second.id)
  expect((await client.listOrders('cancelled')).map(({ id }) => id)).toContain(first.id)
  expect((await client.listOrders()).length).toBeGreaterThanOrEqual(2)
}

describe('store orders, embedded', () => {
  it('make a pet pending, available again, and sold; all of it is there after kill -9', async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    const service = await startService(environment)
    await expectLifeOfAPet(new Client(service))
    const orders = await new Client(service).listOrders()
    await service.end('SIGKILL')
    const client = new Client(await startService(environment))
    await vi.waitFor(async () => expect(await client.listOrders()).toEqual(orders))
    await expectLifeOfAPet(client)
    await expectVerified(environment)
  })
})

describeWithBrokers('store orders', (brokers) => {
  async function start() {
    const environment = brokerEnvironment(brokers)
    const { clients } = await startRoles(environment)
    await clients[1].create('warm-up')
    return { environment, clients }
  }

  it('make a pet pending, available again, and sold', async () => {
    const { environment, clients } = await start()
    await expectLifeOfAPet(clients[0])
    await expectVerified(environment)
  })

  it('64 clients on two instances order one pet at once, 200 times: each time one gets it', async () => {
    const { environment, clients } = await start()
    for (let round = 0; round < 200; round++) {
      const { id } = await clients[0].create(`pet ${round}`)
      expect((await clients[0].get(id)).headers.has('consistency-token')).toBe(false) // none is given where none was sent
      const start = performance.now()
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, i) => (clients[i % 2] as Client).place(id, { prefer: 'wait=5' })),
      )
      expect(performance.now() - start).toBeLessThan(2000)
      const outcomes = Map.groupBy(answers, outcomeOf)
      expect([...outcomes].map(([outcome, { length }]) => [outcome, length]).sort()).toEqual([
        ['201', 1],
        ['409 pet_not_available', 63],
      ])
    }
    await expectVerified(environment)
  })

  it('cancelled on one instance and delivered on the other at once: one of the two wins', async () => {
    const { environment, clients } = await start()
    const winners = new Set<string>()
    for (let round = 0; round < 50; round++) {
      const pet = await clients[round % 2 === 0 ? 0 : 1].create(`pet ${round}`)
      const { id } = await clients[0].order(pet.id)
      expect((await clients[1].update(id, 'approved')).status).toBe(200)
      const wanted = ['cancelled', 'delivered'] as const
      const answers = await Promise.all(wanted.map((status, i) => (clients[i] as Client).update(id, status)))
      const won = wanted.filter((_, i) => answers[i]?.status === 200)
      expect(won, JSON.stringify(answers.map(({ body }) => body))).toHaveLength(1)
      expect(answers.map((answer) => codeOf(answer)).filter(Boolean)).toEqual(['order_transition_invalid'])
      const expected = won[0] === 'delivered' ? 'sold' : 'available'
      expect((await clients[0].get(pet.id)).body).toMatchObject({ status: expected })
      winners.add(won[0] ?? '')
    }
    await expectVerified(environment)
  })
})
