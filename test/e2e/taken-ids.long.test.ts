import { describe, expect, it, vi } from 'vitest'
import { blockSize, idsOf } from '../../src/engine/commands/id-blocks.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { deleteTopics } from '../brokers/topics.ts'
import { numbers } from '../engine/read-models/contract/values.ts'
import { metric } from '../lib/http-client.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { type Answer, Client, inParallel, keyed, outcomeOf, type Pet } from './client.ts'
import { appendToLog, forgetBlock, inThousands } from './embedded-log.ts'
import { brokerEnvironment, type Environment, type ServiceProcess, startService } from './service.ts'
import { createTopic, idBlocksOf, petCreated, produce, readTopic } from './topic.ts'

type ForeignRecord = ReturnType<typeof petCreated>

/** A log whose ids other programs know. */
interface SharedLog {
  readonly environment: Environment
  /** What another program writes, in this order. */
  write(records: readonly ForeignRecord[]): Promise<void>
  /** The log forgets which blocks of ids were reserved, while no process runs. */
  forgetBlocks(): Promise<void>
}

function embeddedLog(): SharedLog {
  const environment = { DATA_DIR: temporaryFolder() }
  return {
    environment,
    write: (records) => appendToLog(environment.DATA_DIR, records),
    forgetBlocks: async () => forgetBlock(environment.DATA_DIR),
  }
}

function kafkaLog(brokers: { kafkaBrokers: string; redisUrl: string }): SharedLog {
  const environment = brokerEnvironment(brokers)
  const blocks = idBlocksOf(environment)
  return {
    environment,
    async write(records) {
      for (const some of inThousands(records)) await produce(environment, some)
    },
    async forgetBlocks() {
      const [identity] = await readTopic(blocks)
      await deleteTopics(brokers.kafkaBrokers, blocks.KAFKA_TOPIC)
      await createTopic(blocks, 1)
      await produce(blocks, [{ value: identity?.value ?? null }])
    },
  }
}

const unawaited = { prefer: 'wait=0' }
const named = (name: string) => ({ name, categoryId: 1 })

function foreignPets(ids: readonly number[], typeVersion = 1): ForeignRecord[] {
  return ids.map((id) => {
    const pet = { id, ...named(`foreign ${id}`), status: 'available' }
    return petCreated({ eventId: `foreign ${id}`, pet, streamversion: 1, typeVersion })
  })
}

function posted(client: Client, count: number, headers: Record<string, string> = unawaited): Promise<Answer[]> {
  return inParallel(count, 10, (i) => client.post(named(`ours ${i}`), headers))
}

/** Those of the pets that are there, as they were created, once all was read that is in the log. */
async function foundOf(client: Client, answers: readonly Answer[]): Promise<Pet[]> {
  expect(answers.map(outcomeOf)).toEqual(answers.map(() => '201'))
  const token = (await client.post(named('the last one'), { prefer: 'wait=10' })).headers.get('consistency-token') ?? ''
  const found = await Promise.all(
    answers.map(async ({ body, headers }) => {
      const own = { 'consistency-token': headers.get('consistency-token') ?? token }
      const now = await client.get((body as Pet).id, own)
      return JSON.stringify(now.body) === JSON.stringify(body) ? [body as Pet] : []
    }),
  )
  return found.flat()
}

const lostIn = ({ url }: ServiceProcess) => metric(url, 'petstore_creations_lost_total')
const blockOf = ({ id }: Pet) => Math.ceil(id / blockSize)
const skippedIn = (service: ServiceProcess) => linesOf(service, 'some ids of a block are taken already')

function linesOf(service: ServiceProcess, text: string): Record<string, unknown>[] {
  const lines = service.output().split('\n')
  return lines.filter((line) => line.includes(`"msg":"${text}`)).map((line) => JSON.parse(line))
}

function withTakenIds(openLog: () => SharedLog): void {
  it('all that is acknowledged is there where the log forgot the blocks whose ids it has', async () => {
    const log = openLog()
    const before = await startService(log.environment)
    const [pet] = await foundOf(new Client(before), await posted(new Client(before), 1))
    const others = await foundOf(new Client(before), await posted(new Client(before), 20))
    await before.end('SIGTERM')
    await log.forgetBlocks()

    const service = await startService(log.environment)
    const client = new Client(service)
    const acknowledged = await posted(client, 10)
    expect(await foundOf(client, acknowledged)).toHaveLength(10)
    for (const each of [pet, ...others]) expect((await client.get(each?.id ?? 0)).body).toEqual(each)
    expect(skippedIn(service)).toMatchObject([{ level: 40, first: 1, last: blockSize }])
    expect(await lostIn(service)).toBe(0)
  })

  it('all that is acknowledged is there where another program wrote under ids of the next block before', async () => {
    const log = openLog()
    const first = await startService(log.environment)
    const [pet] = await foundOf(new Client(first), await posted(new Client(first), 1))
    await first.end('SIGTERM')
    const taken = numbers(4, (pet ? blockOf(pet) : 0) + 1) // which of them come next is for the log to say
    await log.write(foreignPets(taken.map((block) => idsOf(block).last).slice(2)))
    await log.write(foreignPets(taken.map((block) => idsOf(block).first + 5000).slice(0, 2), 99))

    const service = await startService(log.environment)
    const client = new Client(service)
    expect(await foundOf(client, await posted(client, 10))).toHaveLength(10)
    const skipped = skippedIn(service).map(({ last }) => Number(last) / blockSize)
    expect(skipped.length).toBeGreaterThan(0)
    expect(taken).toEqual(expect.arrayContaining(skipped))
    expect(await lostIn(service)).toBe(0)
  })

  it('what is lost to another program that writes after the look is counted and told, and the next pets go elsewhere', async () => {
    const log = openLog()
    const service = await startService(log.environment)
    const client = new Client(service)
    const [pet] = await foundOf(client, await posted(client, 1))
    const block = pet ? blockOf(pet) : 0
    await log.write(foreignPets(numbers(1000, idsOf(block).first).filter((id) => id !== pet?.id)))
    const answers = await posted(client, 10)
    const lost = answers.filter(({ body }) => blockOf(body as Pet) === block).length
    expect(lost).toBeGreaterThan(0)
    await vi.waitFor(async () => expect(await lostIn(service)).toBe(lost), { timeout: 30_000 })
    const told = linesOf(service, 'an acknowledged creation is lost')
    expect(told.map((line) => line.level)).toEqual(told.map(() => 50))
    const found = await foundOf(client, answers)
    expect(found.length).toBe(10 - lost)
    const lostIds = answers.map(({ body }) => (body as Pet).id).filter((each) => !found.some((one) => one.id === each))
    expect(told.map((line) => Number(line.id)).sort((a, b) => a - b)).toEqual(lostIds.sort((a, b) => a - b))
    const next = await foundOf(client, await posted(client, 10))
    expect(next).toHaveLength(10)
    expect(next.filter((each) => blockOf(each) === block)).toEqual([])
    expect(await lostIn(service)).toBe(lost)
  })

  it('every request to add a pet is answered 201 where another event is parked under each id, and the pet is there', async () => {
    const log = openLog()
    const service = await startService(log.environment)
    const client = new Client(service)
    const [first] = await foundOf(client, await posted(client, 1))
    const { first: from } = idsOf(first ? blockOf(first) : 0)
    await log.write(
      foreignPets(
        numbers(3 * blockSize, from).filter((id) => id !== first?.id),
        99,
      ),
    )
    // All but two: there are two pets by now.
    await vi.waitFor(async () => expect(await metric(service.url, 'petstore_parked_events')).toBe(3 * blockSize - 2), {
      timeout: 120_000,
    })
    const patient = { prefer: 'wait=10' }
    const answers = await posted(client, 20, patient)
    answers.push(...(await inParallel(10, 10, (i) => client.post(named(`keyed ${i}`), { ...keyed(`key ${i}`) }))))
    expect(await foundOf(client, answers)).toHaveLength(30)
    expect(await lostIn(service)).toBe(0)
  })
}

describe('embedded, with ids that are taken,', () => withTakenIds(embeddedLog))
describeWithBrokers('on brokers, with ids that are taken,', (brokers) => withTakenIds(() => kafkaLog(brokers)))
