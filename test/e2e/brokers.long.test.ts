import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it, vi } from 'vitest'
import type { asyncApiDocument } from '../../src/engine/definition/asyncapi.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { shared } from '../lib/when-done.ts'
import { byId, createOnce, expectExactText, inParallel, keyed, outcomeOf, type Pet, untilServed } from './client.ts'
import { buying, Load } from './load.ts'
import { brokerEnvironment, startRoles } from './service.ts'
import { creationsIn, readPets, readTopic, storedCount } from './topic.ts'
import { looking, mixing } from './workloads.ts'

const patience = { timeout: 60_000, interval: 50 }

describeWithBrokers('on Kafka and Redis', (brokers) => {
  const roles = shared(() => startRoles(brokerEnvironment(brokers)))

  it('any Kafka client reads what /asyncapi.json says, where it says', async () => {
    const { environment, clients } = roles()
    const pets = await inParallel(20, 8, (i) => clients[0].create(`described ${i}`))
    await untilServed(clients[1], pets)
    const { body } = await clients[0].request('/asyncapi.json')
    const { channels, components } = body as ReturnType<typeof asyncApiDocument>
    expect(channels.journal.address).toBe(environment.KAFKA_TOPIC)
    for (const { address, messages } of [channels.published, channels.journal]) {
      const topic = { ...environment, KAFKA_TOPIC: String(address) }
      const records = await vi.waitFor(async () => {
        const found = await readTopic(topic)
        expect(found.length).toBeGreaterThanOrEqual(pets.length)
        return found
      }, patience)
      const described = components.messages[messages['petstore.PetCreated.v1']?.$ref.split('/').at(-1) ?? '']
      const check = new Ajv2020({ strict: false, validateFormats: false }).compile({
        ...described?.payload,
        components,
      })
      for (const { key, value } of records) {
        const event = JSON.parse(String(value))
        expect([check(event), check.errors]).toEqual([true, null])
        expect(String(key)).toBe(String(event.data.id))
        expect(String(key)).toMatch(new RegExp(described?.bindings.kafka.key.pattern ?? 'none'))
        expect(event.subject).toBe(String(key))
        expect(described?.contentType).toBe('application/cloudevents+json')
        expect(pets).toContainEqual(event.data)
      }
      expect(new Set(records.map(({ value }) => JSON.parse(String(value)).id)).size).toBe(pets.length)
    }
  })

  it('no answer of two instances under load, and no feed, is wrong, or older than its token', async () => {
    const { apis, environment } = roles()
    const load = new Load(apis, 32, mixing(looking, buying))
    load.follow(4)
    await load.until(1000, 200, 'getPet')
    await load.expectTrue(environment)
  })

  it('a pet added through one instance is seen by the next GET on the other, with every digit and character', async () => {
    const { clients } = roles()
    for (let i = 0; i < 100; i++) {
      const pet = await clients[i % 2 ? 0 : 1].create(`pet ${i}`)
      expect((await clients[i % 2 ? 1 : 0].get(pet.id)).body).toEqual(pet)
    }
    await expectExactText(clients[0])
  })

  it('64 clients on two instances order one pet at once, 40 times: each time one gets it', async () => {
    const { clients } = roles()
    for (let round = 0; round < 40; round++) {
      const { id } = await clients[0].create(`wanted ${round}`)
      expect((await clients[0].get(id)).headers.has('consistency-token')).toBe(false) // none is given where none was sent
      const place = (client: number) => clients[client % 2 ? 1 : 0].place(id, { prefer: 'wait=5' })
      const answers = await inParallel(64, 64, place)
      const refused = Array(63).fill('409 pet_not_available')
      expect(answers.map(outcomeOf).sort()).toEqual(['201', ...refused])
    }
  })

  it('a POST with an Idempotency-Key gets the same pet as its copies, sent at once to whichever instance', async () => {
    const { environment, clients } = roles()
    const names = Array.from({ length: 30 }, (_, i) => `copied ${i}`)
    const send = (name: string, copy: number) => clients[copy % 2 ? 1 : 0].post({ name, categoryId: 1 }, keyed(name))
    const all = await Promise.all(names.map((name) => Promise.all([0, 1, 2, 3].map((copy) => send(name, copy)))))
    for (const copies of all) {
      const body = copies[0]?.body
      expect(copies).toMatchObject(Array(4).fill({ status: 201, body }))
      expect(copies.filter(({ headers }) => headers.has('idempotency-replayed'))).toHaveLength(3)
    }
    const others = await inParallel(names.length, 8, (i) =>
      clients[i % 2 ? 1 : 0].post({ name: 'another', categoryId: 1 }, keyed(names[i] ?? '')),
    )
    expect(new Set(others.map(outcomeOf))).toEqual(new Set(['422 idempotency_key_reused']))
    const events = creationsIn(await readTopic(environment)).filter(({ data }) => names.includes(data.name))
    expect(events.length).toBeGreaterThan(names.length) // else nothing was decided between duplicates
    const pets = byId(all.map(([first]) => first?.body as Pet))
    const isCopied = ({ name }: Pet) => names.includes(name)
    for (const client of clients) expect((await client.list()).filter(isCopied)).toEqual(pets)
  })

  it('a Consistency-Token of one instance makes a GET on the other wait for a paused projector', async () => {
    const { clients, projector } = roles()
    const [there, here] = clients
    process.kill(projector.pid, 'SIGSTOP')
    const { body, headers } = await there.post({ name: 'not projected', categoryId: 1 }, { prefer: 'wait=0' })
    const { id } = body as Pet
    const get = (prefer: string) =>
      here.get(id, { 'consistency-token': headers.get('consistency-token') ?? '', prefer })
    expect((await here.get(id)).status).toBe(404)
    expect(outcomeOf(await get('wait=0'))).toBe('503 read_model_behind')
    const waiting = get('wait=10')
    expect(outcomeOf(await get('wait=1'))).toBe('503 read_model_behind')
    process.kill(projector.pid, 'SIGCONT')
    expect((await waiting).body).toEqual(body)
  })

  it('a POST with an Idempotency-Key makes one pet, although its instance is killed with kill -9 before it answers', async () => {
    const { environment, apis, clients, projector } = roles()
    const names = Array.from({ length: 16 }, (_, i) => `sent ${i}`)
    const before = await storedCount(environment)
    const untilStored = (count: number) =>
      vi.waitFor(async () => expect(await storedCount(environment)).toBeGreaterThanOrEqual(before + count), patience)
    process.kill(projector.pid, 'SIGSTOP') // nothing is decided: each request is stored only
    const sent = Promise.allSettled(names.map((name) => clients[0].post({ name, categoryId: 1 }, keyed(name))))
    await untilStored(names.length)
    await apis[0].end('SIGKILL')
    await sent

    const sendAgain = () => Promise.all(names.map((name) => createOnce(clients[1], name)))
    const sending = sendAgain()
    await untilStored(names.length + 1) // stored twice
    process.kill(projector.pid, 'SIGCONT')
    const pets = (await sending).map(({ pet }) => pet)
    expect(await sendAgain()).toEqual(pets.map((pet) => ({ pet, isReplayed: true })))
    const isSent = ({ name }: Pet) => names.includes(name)
    expect((await clients[1].list()).filter(isSent)).toEqual(byId(pets))
    expect((await readPets(environment)).filter(isSent)).toEqual(byId(pets))
  })
})
