import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { resultOf } from '../brokers/program.ts'
import type { Contradiction, Exchange } from '../judge/history.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { shared } from '../lib/when-done.ts'
import { packedCommand } from '../release/packed.ts'
import { Client, createMany, createOnce, expectExactly, type Pet } from './client.ts'
import { Load } from './load.ts'
import { describeWithPreviousRelease } from './previous-release.ts'
import {
  brokerEnvironment,
  type Environment,
  expectVerified,
  type ServiceProcess,
  startCommand,
  startService,
  stop,
} from './service.ts'
import { browsing, fillWithPets, looking, mixing } from './workloads.ts'

const patience = { timeout: 60_000, interval: 50 }

/** The release before gives no tags, and no tokens to reads. It refuses tokens of more than one position. */
const ofThisReleaseAlone: ReadonlySet<string> = new Set(['no tag', 'token does not cover what was told'])

function isOfBoth({ rule, what }: Contradiction): boolean {
  return !ofThisReleaseAlone.has(rule) && !what.endsWith('was answered 400 invalid_consistency_token')
}

/** Nor does it tell whether what was added without a key can be read yet. */
function asOfNow(exchange: Exchange): Exchange {
  const { operation, idempotencyKey } = exchange
  return operation === 'createPet' && idempotencyKey === undefined ? { isApplied: false, ...exchange } : exchange
}

/** A request that an instance of the other release was sent is answered as there. */
async function expectReplayed(client: Client, pet: Pet): Promise<void> {
  expect(await createOnce(client, pet.name)).toEqual({ pet, isReplayed: true })
}

/** Resolves to the one as it is now, and to the other. */
async function changeAndRemove(client: Client, pets: readonly Pet[]): Promise<[Pet, Pet]> {
  const [first, second] = pets
  if (first === undefined || second === undefined) throw new Error('there are no pets')
  const { body } = await client.change(first.id, { name: 'changed' })
  expect(body).toEqual({ ...first, name: 'changed' })
  expect((await client.remove(second.id)).status).toBe(204)
  return [body as Pet, second]
}

/** A key that the command line of a release makes and prints. */
async function issueKey(environment: Environment, cli: readonly string[]): Promise<string> {
  const { code, output, errors } = await resultOf(startCommand([...cli, 'keys', 'issue', '--name', 'me'], environment))
  expect(code, errors).toBe(0)
  return output.trim()
}

/** The release before does not start on a file with a key that this one issued: docs/releases.md says to revoke it first. */
async function issueAndRevoke(
  environment: Environment,
  cli: readonly string[],
  previous: readonly string[],
): Promise<void> {
  const run = (...args: string[]) => resultOf(startCommand([...cli, 'keys', ...args], environment))
  const { output } = await run('issue', '--name', 'new', '--json')
  await expect(startService(environment, previous)).rejects.toThrow('"issuedBy" is not known here')
  expect(await run('revoke', JSON.parse(output).id, '--yes')).toMatchObject({ code: 0 })
}

async function untilListed(service: ServiceProcess, count: number): Promise<void> {
  await vi.waitFor(async () => expect(await new Client(service).list()).toHaveLength(count), patience)
}

/** This release is run as its tarball has it. */
describeWithPreviousRelease('the release before this one', (previous) => {
  const packed = shared(async () => packedCommand())
  const startPresent = (environment: Environment) => startService(environment, [...packed(), 'start'])

  it('is replaced on its data folder, comes back, and is replaced again', async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    const cli = previous.map((part) => part.replace(/main\.ts$/, 'cli.ts'))
    const key = await issueKey(environment, cli)
    const before = await startService(environment, previous)
    const pets = await createMany(new Client(before, key), 60)
    const { pet: once } = await createOnce(new Client(before, key), 'before')
    await stop(before)

    const present = await startPresent(environment)
    expect(present.output()).toContain('events that an earlier release appended get checksums')
    const client = new Client(present, key)
    await expectExactly(client, [...pets, once])
    await expectReplayed(client, once)
    const order = await client.order(once.id)
    const [changed, removed] = await changeAndRemove(client, pets)
    const category = await client.send('POST', '/v1/categories', { name: 'Dogs' })
    const { pet: added } = await createOnce(client, 'present')
    pets.push(added)
    await stop(present)

    await issueAndRevoke(environment, packed(), previous)
    const back = await startService(environment, previous)
    await expectExactly(new Client(back, key), [...pets, once]) // it knows no orders, changes, removals and categories
    await expectReplayed(new Client(back, key), added)
    pets.push((await createOnce(new Client(back, key), 'back')).pet)
    await stop(back)

    const returned = await startPresent(environment)
    expect(returned.output()).toContain('events that an earlier release appended get checksums')
    const again = new Client(returned, key)
    const others = pets.filter(({ id }) => id !== changed.id && id !== removed.id)
    await expectExactly(again, [changed, ...others, { ...once, status: 'pending' }])
    for (const pet of pets.slice(-2)) await expectReplayed(again, pet)
    expect((await again.get(removed.id)).status).toBe(404)
    expect((await again.getOrder(order.id)).body).toEqual(order)
    expect((await again.request('/v1/categories')).body).toEqual([category.body])
    await expectVerified(environment)
  })

  describeWithBrokers('on Kafka and Redis', (brokers) => {
    it('is replaced while both serve, and comes back, and nobody sees an answer that is wrong or old', async () => {
      const environment = brokerEnvironment(brokers)
      const before = await startService(environment, previous)
      const standing = await fillWithPets(environment, 200)
      await untilListed(before, standing.length)
      const load = new Load([before], 6, mixing(looking, browsing(standing)))
      const untilMore = () => load.until(100, 200, 'getPet')
      await untilMore()

      const present = await startPresent(environment)
      load.turnTo([before, present])
      await untilMore()
      load.turnTo([present])
      await stop(before)

      const back = await startService(environment, previous)
      load.turnTo([present, back])
      await untilMore()
      load.turnTo([back])
      await stop(present)

      const again = await startPresent(environment)
      load.turnTo([back, again])
      await untilMore()
      const previousUrls: readonly (string | undefined)[] = [before.url, back.url]
      const ofRelease = (exchange: Exchange) =>
        previousUrls.includes(exchange.instance) ? { ...exchange, readModels: 'previous' } : exchange
      const contradictions = await load.contradictions(environment, (exchange) => ofRelease(asOfNow(exchange)))
      expect(contradictions.filter(isOfBoth)).toEqual([])
      expect(load.failed).toEqual([])

      await stop(back)
      await expectVerified(environment)
    })
  })
})
