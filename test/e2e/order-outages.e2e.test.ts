import { Redis } from 'ioredis'
import { expect, it, vi } from 'vitest'
import { describeWithOwnBrokers } from '../brokers/describe.ts'
import { type Answer, Client, codeOf, type Pet } from './client.ts'
import type { Order } from './consumer.ts'
import { place, placed, update } from './order-commands.ts'
import { startOwnBrokers } from './own-brokers.ts'
import { expectVerified } from './petstore.ts'
import { type ServiceProcess, startService } from './service-process.ts'
import { storedCount } from './topic.ts'

const timeout = 240_000
const patience = { timeout: 60_000, interval: 100 }
const keyed = (key: string) => ({ 'idempotency-key': `"${key}"` })

describeWithOwnBrokers('commands about orders', () => {
  /** An API and a projector, with an available pet, and one that has been ordered. */
  async function start() {
    const brokers = await startOwnBrokers(['--appendonly', 'no'])
    const { environment } = brokers
    const [api, projector] = (await Promise.all(
      ['api', 'projector'].map((ROLE) => startService({ ...environment, ROLE })),
    )) as [ServiceProcess, ServiceProcess]
    const client = new Client(api)
    const [free, taken] = [await client.create('free'), await client.create('taken')]
    const order = await placed(client, taken.id)
    const stored = () => storedCount(brokers.kafka.brokers, environment.KAFKA_TOPIC)
    return { ...brokers, client, projector, free, order, stored }
  }
  type World = Awaited<ReturnType<typeof start>>

  const everyCommand = ({ client, free, order }: World): Promise<Answer[]> =>
    Promise.all([place(client, free.id, keyed('first')), place(client, free.id), update(client, order.id, 'approved')])

  /** Each goes through, once: whatever became of the tries before. */
  async function expectSettled({ client, free, order, environment }: World): Promise<Order> {
    const first = await vi.waitFor(async () => {
      const answer = await place(client, free.id, keyed('first'))
      expect([201, 409], JSON.stringify(answer.body)).toContain(answer.status)
      return answer
    }, patience)
    await vi.waitFor(async () => expect((await update(client, order.id, 'approved')).status).toBe(200), patience)
    expect((await client.get(free.id)).body).toEqual({ ...free, status: 'pending' } satisfies Pet)
    expect(codeOf(await place(client, free.id))).toBe('pet_not_available')
    await expectVerified(environment)
    return first.body as Order
  }

  it('with the projector standing still are stored, and their key tells what became of them', { timeout }, async () => {
    const world = await start()
    const { client, projector, free, stored } = world
    process.kill(projector.pid, 'SIGSTOP')
    const before = await stored()
    const answer = await place(client, free.id, keyed('first'))
    expect([answer.status, codeOf(answer)]).toEqual([504, 'append_outcome_unknown'])
    expect(await stored()).toBe(before + 1)
    process.kill(projector.pid, 'SIGCONT')
    const { id } = await expectSettled(world)
    expect(answer.headers.get('location')).toBe(`/v1/store/orders/${id}`)
    expect((await client.request(`/v1/store/orders/${id}`)).status).toBe(200)
  })

  it('with Redis away are refused, and nothing is stored', { timeout }, async () => {
    const world = await start()
    const before = await world.stored()
    await world.redis.kill()
    for (const answer of await everyCommand(world)) {
      expect([answer.status, codeOf(answer)]).toEqual([503, 'read_model_unavailable'])
    }
    expect(await world.stored()).toBe(before)
    await world.redis.start()
    await expectSettled(world)
  })

  it.each([
    ['emptied', async (redis: Redis) => void (await redis.flushall())],
    [
      'put back to an older snapshot',
      async (redis: Redis, { client, redis: server }: World) => {
        await redis.save()
        await client.create('behind the snapshot')
        await server.kill()
        await server.start()
      },
    ],
  ])('with Redis being %s are never told anything untrue', { timeout }, async (_, fault) => {
    const world = await start()
    const redis = new Redis(world.redis.url)
    redis.on('error', () => {})
    const answers: Answer[] = []
    let isOver = false
    const asking = (async () => {
      while (!isOver) answers.push(...(await everyCommand(world)))
    })()
    await fault(redis, world)
    redis.disconnect()
    await expectSettled(world)
    isOver = true
    await asking
    const orders = new Set(answers.filter(({ status }) => status === 201).map(({ body }) => (body as Order).id))
    expect(orders.size).toBeLessThanOrEqual(1)
    const told = new Set(answers.map((answer) => `${answer.status} ${codeOf(answer) ?? ''}`.trim()))
    for (const each of told) expect(each).toMatch(/^(200|201|409 pet_not_available|503 read_model_\w+|504 \w+)$/)
  })

  it('with Kafka killed in the append have an outcome that the key resolves', { timeout }, async () => {
    const world = await start()
    const { client, free, order, kafka } = world
    await kafka.pause()
    const asked = everyCommand(world)
    await kafka.kill()
    for (const { status } of await asked) expect([503, 504]).toContain(status)
    expect((await client.request(`/v1/store/orders/${order.id}`)).status).toBe(200)
    expect((await client.get(free.id)).status).toBe(200)
    await kafka.start()
    await expectSettled(world)
  })
})
