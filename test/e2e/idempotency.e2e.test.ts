import { Redis } from 'ioredis'
import { expect, it, vi } from 'vitest'
import { describeWithBrokers, describeWithOwnBrokers } from '../brokers/describe.ts'
import { codeOf, inParallel, type Pet } from './client.ts'
import { startOwnBrokers } from './own-brokers.ts'
import { startRoles } from './roles.ts'
import { brokerEnvironment } from './service-process.ts'
import { petsIn, readEvents, storedCount } from './topic.ts'
import { createOnce, expectTruth, settleUnknown, WriteLoad } from './write-load.ts'

const patience = { timeout: 60_000, interval: 50 }
const timeout = 180_000
const byId = (one: Pet, other: Pet) => one.id - other.id

describeWithBrokers('a POST with an Idempotency-Key', (brokers) => {
  it('makes one pet, although its instance is killed with kill -9 before it answers', { timeout }, async () => {
    const environment = brokerEnvironment(brokers)
    const { apis, clients, projector } = await startRoles(environment)
    const stored = () => storedCount(brokers.kafkaBrokers, environment.KAFKA_TOPIC)
    const writers = 64
    const answered = new Map<string, Pet>()
    let sent = 0
    async function write(): Promise<void> {
      for (;;) {
        const name = `pet ${sent++}`
        const { status, body } = await clients[0].post(
          { name, categoryId: 1 },
          { 'idempotency-key': `"key of ${name}"` },
        )
        if (status !== 201) return
        answered.set(name, body as Pet)
      }
    }
    const writing = Promise.allSettled(Array.from({ length: writers }, write))
    await vi.waitFor(() => expect(answered.size).toBeGreaterThan(500), patience)
    process.kill(projector.pid, 'SIGSTOP') // from now on nothing is decided: each writer has a request that is stored only
    await vi.waitFor(async () => expect(await stored()).toBeGreaterThanOrEqual(answered.size + writers), patience)
    await apis[0].end('SIGKILL')
    await writing

    const sendAgain = () => inParallel(sent, writers, (i) => createOnce(clients[1], `pet ${i}`, `key of pet ${i}`))
    const sending = sendAgain()
    await vi.waitFor(async () => expect(await stored()).toBeGreaterThan(sent), patience) // stored twice
    process.kill(projector.pid, 'SIGCONT')
    const pets = (await sending).map(({ body }) => body as Pet)
    expect(pets.map((pet) => answered.get(pet.name) ?? pet)).toEqual(pets)
    const replays = await sendAgain()
    expect(replays.map(({ body }) => body)).toEqual(pets)
    expect(replays.filter(({ headers }) => headers.get('idempotency-replayed') !== 'true')).toEqual([])
    expect(await clients[1].list({ limit: 100 })).toEqual(pets.toSorted(byId))
    expect(petsIn(await readEvents(brokers.kafkaBrokers, environment.KAFKA_TOPIC))).toEqual(pets.toSorted(byId))
  })

  it('gets the same pet as every copy of it that is sent at once, to whichever instance', { timeout }, async () => {
    const environment = brokerEnvironment(brokers)
    const { clients } = await startRoles(environment)
    await createOnce(clients[0], 'warm-up', 'key of the warm-up') // the projector may still be joining its group
    const names = Array.from({ length: 50 }, (_, i) => `pet ${i}`)
    const send = (name: string, copy: number) =>
      clients[copy % 2 ? 1 : 0].post({ name, categoryId: 1 }, { 'idempotency-key': `"key of ${name}"` })
    const pets = await Promise.all(
      names.map(async (name) => {
        const copies = await Promise.all([0, 1, 2, 3].map((copy) => send(name, copy)))
        const [pet] = copies.map(({ body }) => body)
        for (const { status, body } of copies) expect({ status, body }).toEqual({ status: 201, body: pet })
        expect(copies.filter(({ headers }) => headers.has('idempotency-replayed'))).toHaveLength(3)
        return pet as Pet
      }),
    )
    for (const [i, name] of names.entries()) {
      const other = await clients[i % 2 ? 1 : 0].post(
        { name: `not ${name}`, categoryId: 1 },
        { 'idempotency-key': `"key of ${name}"` },
      )
      expect([other.status, codeOf(other)]).toEqual([422, 'idempotency_key_reused'])
    }
    const events = await readEvents(brokers.kafkaBrokers, environment.KAFKA_TOPIC)
    expect(events.length).toBeGreaterThan(1 + names.length) // else nothing was decided between duplicates
    for (const client of clients) {
      const listed = (await client.list({ limit: 100 })).filter(({ name }) => name !== 'warm-up')
      expect(listed).toEqual(pets.toSorted(byId))
    }
    expect(petsIn(events).filter(({ name }) => name !== 'warm-up')).toEqual(pets.toSorted(byId))
  })
})

describeWithOwnBrokers('a POST with an Idempotency-Key, beside a Redis that fails,', () => {
  it('still gets its pet when Redis has lost everything', { timeout }, async () => {
    const { kafka, redis, environment } = await startOwnBrokers()
    const { clients } = await startRoles(environment)
    const create = (i: number) => createOnce(clients[i % 2 ? 1 : 0], `pet ${i}`, `key ${i}`)
    const pets = (await inParallel(50, 8, create)).map(({ body }) => body as Pet)
    const connection = new Redis(redis.url)
    await connection.flushall()
    connection.disconnect()
    const again = await inParallel(50, 8, (i) => create(i))
    expect(again.map(({ body }) => body)).toEqual(pets)
    expect(again.filter(({ headers }) => headers.get('idempotency-replayed') !== 'true')).toEqual([])
    expect(await clients[1].list({ limit: 100 })).toEqual(pets.toSorted(byId))
    expect(petsIn(await readEvents(kafka.brokers, environment.KAFKA_TOPIC))).toEqual(pets.toSorted(byId))
  })

  it('is refused while Redis is away, and nothing is stored for it; one without a key is accepted', {
    timeout,
  }, async () => {
    const { kafka, redis, environment } = await startOwnBrokers()
    const { clients } = await startRoles(environment)
    const load = new WriteLoad(clients[0], 8)
    await load.until(300, 201)
    await redis.kill()
    const refused = await inParallel(40, 8, (i) =>
      clients[i % 2 ? 1 : 0].post({ name: `refused ${i}`, categoryId: 1 }, { 'idempotency-key': `"refused ${i}"` }),
    )
    for (const answer of refused) expect([answer.status, codeOf(answer)]).toEqual([503, 'read_model_unavailable'])
    const accepted = await inParallel(10, 8, (i) => clients[i % 2 ? 1 : 0].create(`accepted ${i}`))
    await redis.start()
    await load.until(300, 201)
    const attempts = await load.stop()
    const settled = await settleUnknown(clients[1], attempts)
    const events = await readEvents(kafka.brokers, environment.KAFKA_TOPIC)
    expect(events.filter(({ pet }) => pet.name.startsWith('refused'))).toEqual([])
    expect(events.map(({ pet }) => pet)).toEqual(expect.arrayContaining(accepted))
    await expectTruth(clients[1], { attempts, settled, events })
  })
})
