import { randomUUID } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { redisKeys } from '../../src/engine/read-models/redis/redis-keys.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { askRedis } from '../brokers/ready.ts'
import { shared } from '../lib/when-done.ts'
import { type Answer, Client, createOnce, keyed, outcomeOf, type Pet } from './client.ts'
import { type Damage, damages } from './damage.ts'
import { brokerEnvironment, expectVerified, petstore, type ServiceProcess, startService } from './service.ts'
import { openStore, storedVersion } from './stored-state.ts'
import { logIdOf } from './topic.ts'

const patience = { timeout: 20_000, interval: 20 }
const refused = '503 read_model_rebuilding'

type Environment = ReturnType<typeof brokerEnvironment>

/** Does the damage to the active generation; resolves to its name. */
async function inflict(environment: Environment, damage: Damage, petId: number): Promise<string> {
  const all = redisKeys({ prefix: environment.REDIS_PREFIX, version: await storedVersion(environment) })
  return await askRedis(environment.REDIS_URL, async (redis) => {
    const generation = (await redis.hget(all.active, 'name')) ?? expect.fail('there is none')
    await damage({ redis, all, generation, petId })
    return generation
  })
}

/** A generation that no other one had to make room for, so that it is replaced at once where it is damaged. */
async function startAnew(environment: Environment): Promise<void> {
  const { generations } = await openStore(environment)
  const active = await generations.active()
  await generations.start({ name: randomUUID(), logId: await logIdOf(environment) }, active?.name)
}

/** An answer is right, or a refusal: never another error, and never something else. */
function expectRightOrRefused(answer: Answer, isRight: (body: unknown) => boolean): boolean {
  if (outcomeOf(answer) === refused) return false
  expect([200, 201], answer.text).toContain(answer.status)
  expect(isRight(answer.body), answer.text).toBe(true)
  return true
}

describeWithBrokers('read models in which something is damaged', (brokers) => {
  const environmentOf = shared(async () => brokerEnvironment(brokers))
  let client: Client
  const pets = new Map<number, Pet>()

  const isKnown = (body: unknown) =>
    (body as Pet[]).every((pet) => JSON.stringify(pets.get(pet.id)) === JSON.stringify(pet))

  /** Asks for everything once; resolves to whether all of it was answered. */
  async function askAll(pet: Pet): Promise<boolean> {
    const same = (body: unknown) => JSON.stringify(body) === JSON.stringify(pet)
    return [
      expectRightOrRefused(await client.get(pet.id), same),
      expectRightOrRefused(await client.request('/v1/pets?limit=100'), isKnown),
      expectRightOrRefused(await client.request(`/v1/pets?limit=100&status=${pet.status}`), isKnown),
      expectRightOrRefused(await client.request(`/v1/pets?limit=100&categoryId=${pet.categoryId}`), isKnown),
      expectRightOrRefused(await client.post({ name: 'first', categoryId: 1 }, keyed('first')), same),
    ].every(Boolean)
  }

  it('are refused or right, and replaced by themselves at once, whatever is damaged', async () => {
    const environment = environmentOf()
    const service: ServiceProcess = await startService(environment)
    client = new Client(service)
    const { pet } = await createOnce(client, 'first')
    pets.set(pet.id, pet)
    for (const [what, damage] of Object.entries(damages)) {
      await startAnew(environment)
      await vi.waitFor(async () => expect(await askAll(pet)).toBe(true), patience)
      const damaged = await inflict(environment, damage, pet.id)
      // Some pieces are missed only when the next event is applied.
      const another = (await client.post({ name: what, categoryId: 1 }, { prefer: 'wait=0' })).body as Pet
      pets.set(another.id, another)
      const store = await openStore(environment)
      await vi.waitFor(async () => {
        const isAnswered = await askAll(pet)
        expect((await store.generations.active())?.name, what).not.toBe(damaged)
        expect(isAnswered, what).toBe(true)
        // It is as of the last look, which may have been before the answers.
        const ready = (await client.request('/readyz')).body as { checks: { readModels: { status: string } } }
        expect(ready.checks.readModels.status, what).toBe('up')
      }, patience)
    }
    expect(service.output()).toContain('the read models lost data: an empty generation takes their place')
    expect(service.output()).toMatch(/"damage":"the checkpoint of partition \d+ is not a checkpoint"/)
    expect(service.output()).not.toContain('unexpected error')
    await expectVerified(environment)
    await service.end('SIGTERM')
  })

  it.each([
    ['a checkpoint: garbage', /the checkpoint of partition \d+ is not a checkpoint/],
    ['the checkpoints: another type', /:checkpoints\\*" is of type string/],
    ['the sizes: another type', /:sizes\\*" is of type string/],
    ['a set of documents: another type', /:set:pets\\*" is of type string/],
    ['the active generation: another type', /There are no read models yet/],
  ] as const)('with no service to replace them, are named by verify, and rebuilt: %s', async (what, named) => {
    const environment = environmentOf()
    await inflict(environment, damages[what] ?? expect.fail(what), [...pets.keys()][0] ?? 0)
    const verified = await petstore(environment, 'verify')
    expect(verified.code).not.toBe(0)
    expect(verified.output + verified.errors).toMatch(named)
    for (const command of ['generations', 'doctor', 'rebuild']) {
      const { code, errors } = await petstore(environment, command)
      expect(code, `${command}: ${errors}`).toBe(0)
    }
  })
})
