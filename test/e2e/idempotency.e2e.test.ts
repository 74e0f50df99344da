import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { byId, createOnce, inParallel, keyed, outcomeOf, type Pet } from './client.ts'
import { brokerEnvironment, startRoles } from './service.ts'
import { consumed, creationsIn, readPets, readTopic, storedCount } from './topic.ts'

const patience = { timeout: 60_000, interval: 50 }

describeWithBrokers('a POST with an Idempotency-Key', (brokers) => {
  it('makes one pet, although its instance is killed with kill -9 before it answers', async () => {
    const environment = brokerEnvironment(brokers)
    const { apis, clients, projector } = await startRoles(environment)
    const stored = () => storedCount(environment)
    const writers = 64
    const answered = new Map<string, Pet>()
    let sent = 0
    async function write(): Promise<void> {
      for (;;) {
        const name = `pet ${sent++}`
        const { status, body } = await clients[0].post({ name, categoryId: 1 }, keyed(name))
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

    const sendAgain = () => inParallel(sent, writers, (i) => createOnce(clients[1], `pet ${i}`))
    const sending = sendAgain()
    await vi.waitFor(async () => expect(await stored()).toBeGreaterThan(sent), patience) // stored twice
    process.kill(projector.pid, 'SIGCONT')
    const pets = (await sending).map(({ pet }) => pet)
    expect(pets.map((pet) => answered.get(pet.name) ?? pet)).toEqual(pets)
    const replays = await sendAgain()
    expect(replays).toEqual(pets.map((pet) => ({ pet, isReplayed: true })))
    expect(await clients[1].list()).toEqual(byId(pets))
    expect(await readPets(environment)).toEqual(byId(pets))
  })

  it('is stored once, however often it is sent while nothing is projected', async () => {
    const environment = { ...brokerEnvironment(brokers), APPEND_TIMEOUT_MS: '1000' }
    const { clients, projector } = await startRoles(environment)
    const { pet: warmUp } = await createOnce(clients[0], 'warm-up')
    process.kill(projector.pid, 'SIGSTOP')
    const send = () => clients[0].post({ name: 'Rex', categoryId: 1 }, keyed('Rex'))
    for (let sent = 0; sent < 4; sent++) expect(outcomeOf(await send())).toBe('504 append_outcome_unknown')
    expect(await storedCount(environment)).toBe(2)
    process.kill(projector.pid, 'SIGCONT')
    const { pet: rex } = await createOnce(clients[0], 'Rex')
    expect(await clients[0].list()).toEqual(byId([warmUp, rex]))
  })

  it('gets the same pet as every copy of it that is sent at once, to whichever instance', async () => {
    const environment = brokerEnvironment(brokers)
    const { clients } = await startRoles(environment)
    const { pet: warmUp } = await createOnce(clients[0], 'warm-up') // the projector may still be joining its group
    const names = Array.from({ length: 50 }, (_, i) => `pet ${i}`)
    const send = (name: string, copy: number) => clients[copy % 2 ? 1 : 0].post({ name, categoryId: 1 }, keyed(name))
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
      const other = await clients[i % 2 ? 1 : 0].post({ name: `not ${name}`, categoryId: 1 }, keyed(name))
      expect(outcomeOf(other)).toBe('422 idempotency_key_reused')
    }
    const log = await readTopic(environment)
    expect(creationsIn(log).length).toBeGreaterThan(1 + names.length) // else nothing was decided between duplicates
    const expected = byId([warmUp, ...pets])
    for (const client of clients) expect(await client.list()).toEqual(expected)
    expect(consumed(log).pets).toEqual(expected)
  })
})
