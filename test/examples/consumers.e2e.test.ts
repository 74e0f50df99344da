import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { byId, Client, type Order, type Pet } from '../e2e/client.ts'
import { brokerEnvironment, type Program, startCommand, startService } from '../e2e/service.ts'
import { createTopic, petCreated, produce, storedCount, type Topic } from '../e2e/topic.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { disturb, largest, parkAndDiscard, sell } from './history.ts'

const patience = { timeout: 120_000, interval: 5 }
const root = join(import.meta.dirname, '../..')
const python = process.env.EXAMPLES_PYTHON ?? 'python3'
const hasPython = spawnSync(python, ['-c', 'import confluent_kafka']).status === 0

const commands = {
  'the TypeScript consumer': [process.execPath, join(root, 'examples/events/consumer.ts')],
  'the Python consumer': [python, join(root, 'examples/python/consumer.py')],
  'the projection': [process.execPath, join(root, 'examples/events/projection.ts')],
} as const
type Name = keyof typeof commands
const names = (Object.keys(commands) as Name[]).filter(
  (name) => name !== 'the Python consumer' || hasPython || process.env.CI,
)

interface Line {
  readonly partition: number
  readonly offset: number
  readonly pet: Pet & { readonly isRemoved?: true }
  readonly order?: Order
}

describeWithBrokers('the examples of consumers', (brokers) => {
  it('come to what the service shows, whatever kills them', async () => {
    const environment = brokerEnvironment(brokers)
    const service = new Client(await startService(environment))
    await sell(service, 40)
    await produce(environment, manyPets)
    await disturb(environment)
    await parkAndDiscard(environment)

    const folder = temporaryFolder()
    const database = (name: Name) => join(folder, name)
    const startOn = (name: Name) => start(name, environment, database(name))
    const sharing = [startOn('the projection'), startOn('the projection')] // each record counts once in their file
    const cutOff = await Promise.all(
      names.map((name) => killAtOnce(...(name === 'the projection' ? sharing : [startOn(name)]))),
    )
    await sell(service, 10)
    const shown = await shownBy(service)
    async function runToTheEnd(left: readonly Program[] = []): Promise<string[]> {
      const programs = names.map((name) => (name === 'the projection' && left[0]) || startOn(name))
      for (const [i, program] of programs.entries()) {
        await untilTaken(program, environment, database(names[i] as Name))
        expect(await program.end('SIGTERM'), program.errors()).toBe(0)
      }
      return programs.map(({ output }) => output())
    }
    function expectShown(outputs: readonly string[]): void {
      for (const [i, output] of outputs.entries()) {
        if (names[i] === 'the projection') expect(salesIn(database(names[i]))).toEqual(salesOf(shown))
        else expectChanges(output, shown)
      }
    }
    const rest = await runToTheEnd(sharing.filter(({ running }) => running()))
    expectShown(cutOff.map((lines, i) => lines + rest[i]))

    // Without its file a consumer begins at the first event, wherever its group was.
    for (const name of names) rmSync(database(name))
    expectShown(await runToTheEnd())
  })

  it('refuse a database that is ahead of the topic', async () => {
    const environment = brokerEnvironment(brokers)
    await createTopic(environment)
    const DATABASE = join(temporaryFolder(), 'ahead.db')
    query(DATABASE, 'CREATE TABLE positions (partition INTEGER PRIMARY KEY, next INTEGER NOT NULL)')
    query(DATABASE, 'INSERT INTO positions VALUES (3, 1000000)')
    for (const program of names.map((name) => start(name, environment, DATABASE))) {
      expect(await program.ended, program.errors()).toBe(1)
      expect(program.errors()).toContain('Delete the database to begin again')
    }
  })

  // In CI it has to be there: all of the tests above fail without it.
  if (!hasPython && !process.env.CI) it.skip('in Python: needs confluent-kafka, see examples/README.md')
})

function start(name: Name, { KAFKA_BROKERS, KAFKA_TOPIC }: Topic, DATABASE: string): Program {
  const KAFKA_GROUP = `${KAFKA_TOPIC} ${name}`
  return startCommand(commands[name], { KAFKA_BROKERS, KAFKA_TOPIC, KAFKA_GROUP, DATABASE })
}

/** The first of them that prints, in the middle of its work. Resolves to its whole lines. */
async function killAtOnce(...programs: readonly Program[]): Promise<string> {
  const prints = async (program: Program) => {
    await until(program, () => expect(program.output()).not.toBe(''))
    return program
  }
  const first = await Promise.race(programs.map(prints))
  expect(await first.end('SIGKILL')).toBe('SIGKILL')
  return first.output().replace(/[^\n]*$/, '')
}

/** Once as many records are taken as the topic has. */
async function untilTaken(program: Program, topic: Topic, DATABASE: string): Promise<void> {
  const end = await storedCount(topic)
  await until(program, () => expect(query(DATABASE, 'SELECT sum(next) AS n FROM positions')).toEqual([{ n: end }]))
}

/** Fails at once if the program ends before. */
async function until(program: Program, condition: () => void): Promise<void> {
  const tooSoon = program.ended.then((code) => expect.fail(`it ended with ${code}: ${program.errors()}`))
  await Promise.race([vi.waitFor(condition, patience), tooSoon])
}

/** Enough that a process is killed in the middle of them. */
const manyPets = Array.from({ length: 3000 }, (_, i) => {
  const pet = { id: 7_000_000 + i, name: `pet ${i}`, categoryId: i % 10, status: 'sold' }
  return petCreated({ eventId: `many ${i}`, pet, streamversion: 1 })
})

interface Shown {
  readonly pets: readonly Pet[]
  readonly orders: readonly Order[]
}

async function shownBy(service: Client): Promise<Shown> {
  return { pets: await service.list(), orders: await service.listOrders() }
}

/** The lines come to the pets and orders. A line that was printed once more is the same. */
function expectChanges(output: string, { pets, orders }: Shown): void {
  const lines = new Map<string, string>()
  for (const text of output.trimEnd().split('\n')) {
    const { partition, offset }: Line = JSON.parse(text)
    const place = `${partition}/${offset}`
    expect(lines.get(place) ?? text).toBe(text)
    lines.set(place, text)
  }
  const changes = [...lines.values()].map((text): Line => JSON.parse(text)).sort((a, b) => a.offset - b.offset)
  const known = byId(new Map(changes.map(({ pet }) => [pet.id, pet])).values())
  expect(known.filter(({ isRemoved }) => !isRemoved)).toEqual(pets)
  expect(known.length - pets.length).toBeGreaterThan(5)
  const changed = changes.flatMap(({ order }) => order ?? [])
  expect(byId(new Map(changed.map((order) => [order.id, order])).values())).toEqual(orders)
  for (const digits of [largest, `-${largest}`]) expect(output).toContain(`"categoryId":${digits},"status"`)
}

/** How many pets of each category are sold. */
function salesOf({ pets }: Shown): Record<string, number> {
  const sold = pets.filter(({ status }) => status === 'sold')
  return Object.fromEntries(
    [...Map.groupBy(sold, ({ categoryId }) => categoryId)].map(([id, { length }]) => [id, length]),
  )
}

function salesIn(file: string): Record<string, unknown> {
  const rows = query(file, 'SELECT CAST(category_id AS TEXT) AS id, sold FROM sales')
  return Object.fromEntries(rows.map(({ id, sold }) => [Number(id), sold]))
}

function query(file: string, statement: string): Record<string, unknown>[] {
  using database = new DatabaseSync(file, { timeout: 10_000 })
  return database.prepare(statement).all()
}
