import { expect, it, vi } from 'vitest'
import { describeWithOwnBrokers } from '../brokers/describe.ts'
import {
  type Answer,
  createMany,
  expectExactly,
  inParallel,
  keyed,
  type Order,
  outcomeOf,
  type Pet,
  untilServed,
} from './client.ts'
import { expectVerified, startOwnBrokers, startRoles } from './service.ts'
import { storedCount } from './topic.ts'

const patience = { timeout: 60_000, interval: 100 }

/** An API and a projector on brokers of their own, with pets: those that are surely there. */
async function startWithPets() {
  const brokers = await startOwnBrokers()
  const { projector, apis, clients } = await startRoles(brokers.environment)
  const [client] = clients
  const pets = new Map((await createMany(client, 60)).map((pet) => [pet.id, pet]))
  await untilServed(client, [...pets.values()])
  return { ...brokers, projector, apis, client, pets, stored: () => storedCount(brokers.environment) }
}

/** An available pet, and one that has been ordered, with what clients may ask of them. */
async function arrange({ client, pets }: Awaited<ReturnType<typeof startWithPets>>) {
  const [free, taken] = [await client.create('free'), await client.create('taken')]
  const order = await client.order(taken.id)
  pets.set(free.id, free).set(taken.id, { ...taken, status: 'pending' })
  const pet = { name: 'while away', categoryId: 1 }
  const [orderKey, petKey] = [keyed(`order of ${free.id}`), keyed(`pet beside ${free.id}`)]
  const reads = () => Promise.all([client.get(free.id), client.request('/v1/pets'), client.getOrder(order.id)])
  const placeUnderKey = () => client.place(free.id, orderKey)
  /** Those that have to know what was decided before. */
  const commands = () =>
    Promise.all([placeUnderKey(), client.place(free.id), client.update(order.id, 'approved'), client.post(pet, petKey)])
  /** Those that have not. */
  const creates = () => inParallel(20, 5, () => client.post(pet))

  /** Each command goes through once, whatever became of its tries; so many creates had an unknown outcome. */
  async function expectSettled(unknown = 0, outcome = /^201$/): Promise<Order> {
    const first = await vi.waitFor(async () => {
      const answer = await placeUnderKey()
      expect(outcomeOf(answer)).toMatch(outcome)
      return answer
    }, patience)
    await vi.waitFor(async () => expect((await client.update(order.id, 'approved')).status).toBe(200), patience)
    expect(outcomeOf(await client.place(free.id))).toBe('409 pet_not_available')
    pets.set(free.id, { ...free, status: 'pending' })
    const { id } = await vi.waitFor(() => client.create('after'), patience)
    const found = await vi.waitFor(async () => {
      const listed = await client.list()
      expect(listed.map((each) => each.id)).toContain(id)
      return listed.filter((each) => each.id !== id)
    }, patience)
    expect(found).toEqual(expect.arrayContaining([...pets.values()]))
    expect(found.length - pets.size).toBeLessThanOrEqual(unknown)
    for (const each of await client.list()) pets.set(each.id, each)
    return first.body as Order
  }
  return { reads, commands, creates, placeUnderKey, expectSettled }
}

describeWithOwnBrokers('while a part of the service is away', () => {
  it('each request is answered as it can be, and all is right afterwards without a restart', async () => {
    const world = await startWithPets()
    const { kafka, redis, environment, projector, apis, client, pets, stored } = world

    const standing = await arrange(world)
    process.kill(projector.pid, 'SIGSTOP')
    const before = await stored()
    const undecided = await standing.placeUnderKey()
    expect(outcomeOf(undecided)).toBe('504 append_outcome_unknown')
    expect(await stored()).toBe(before + 1)
    process.kill(projector.pid, 'SIGCONT')
    const { id } = await standing.expectSettled()
    expect(undecided.headers.get('location')).toBe(`/v1/store/orders/${id}`)
    expect((await client.getOrder(id)).status).toBe(200)

    for (const [leave, comeBack] of [
      ['kill', 'start'],
      ['pause', 'resume'],
    ] as const) {
      const { reads, commands, creates, expectSettled } = await arrange(world)
      await redis[leave]()
      const before = await stored()
      for (const answer of [...(await reads()), ...(await commands())]) {
        expect(outcomeOf(answer), leave).toBe('503 read_model_unavailable')
        expect(answer.ms).toBeLessThan(2000)
      }
      expect(await stored()).toBe(before)
      for (const { status, body, text } of await creates()) {
        expect(status, text).toBe(201)
        pets.set((body as Pet).id, body as Pet)
      }
      await redis[comeBack]()
      await expectSettled()
    }

    const { reads, commands, creates, expectSettled } = await arrange(world)
    await kafka.pause()
    const asked = commands()
    await kafka.kill()
    const answers = [...(await asked), ...(await creates())]
    for (const answer of answers) {
      expect(outcomeOf(answer)).toMatch(/^(503 event_log_unavailable|504 append_outcome_unknown)$/)
      expect(answer.ms).toBeLessThan(6000)
    }
    expect(outcomeOf(answers.at(-1) as Answer)).toBe('503 event_log_unavailable')
    for (const { status } of await reads()) expect(status).toBe(200)
    await expectExactly(client, [...pets.values()])
    await kafka.start()
    const unknown = answers.slice(3).filter(({ status }) => status === 504) // the creates
    await expectSettled(unknown.length, /^(201|409 pet_not_available)$/)

    await untilServed(client, [...pets.values()])
    await expectVerified(environment)
    for (const process of [projector, ...apis]) expect(process.running(), process.output()).toBe(true)
  })
})
