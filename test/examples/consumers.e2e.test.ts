import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { deleteTopics } from '../brokers/topics.ts'
import { Client, inParallel } from '../e2e/client.ts'
import { publishedOf } from '../e2e/published-topic.ts'
import { brokerEnvironment, type Program, startCommand, startService } from '../e2e/service.ts'
import { petCreated, produce, type Topic } from '../e2e/topic.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { disturb, parkAndDiscard, sell } from './history.ts'

const patience = { timeout: 120_000, interval: 5 }
const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const readme = read('examples/README.md')
const python = process.env.EXAMPLES_PYTHON ?? 'python3'
const hasPython = spawnSync(python, ['-c', 'import confluent_kafka']).status === 0

const commands = {
  'mailer.ts': [process.execPath, join(root, 'examples/published/mailer.ts')],
  'mailer.py': [python, join(root, 'examples/published/mailer.py')],
} as const
type Name = keyof typeof commands
const names = (Object.keys(commands) as Name[]).filter((name) => name === 'mailer.ts' || hasPython || process.env.CI)

describeWithBrokers('the examples of consumers', (brokers) => {
  it('send one mail for each sale, whatever kills them', async () => {
    const environment = brokerEnvironment(brokers)
    const service = new Client(await startService(environment))
    await sell(service, 40)
    await produce(environment, manyPets)
    await disturb(environment)
    await parkAndDiscard(environment)

    const mailers = names.map((name) => new Mailer(name, environment))
    for (let round = 0; round < 5; round++) {
      await Promise.all([sell(service, 10), ...mailers.map((mailer) => mailer.killAtWork())])
    }
    const shown = await shownBy(service)
    expect(shown.mails.length).toBeGreaterThan(30)
    for (const mailer of mailers) await mailer.until(() => expect(mailer.taken(shown)).toEqual(shown))

    const react = startCommand([process.execPath, pasted(environment)], {})
    const sold = () => [...react.output().matchAll(/\S+: (pet \d+ is sold)\n/g)].map(([, line]) => line).toSorted()
    const sales = shown.mails.map((mail) => mail.replace(/.*: /, '')).toSorted()
    await vi.waitFor(() => expect(sold()).toEqual(sales), patience)

    // An operator has the topic written anew: its offsets are others, and it grows beyond the positions of before.
    for (const mailer of mailers) await mailer.kill()
    await deleteTopics(environment.KAFKA_BROKERS, publishedOf(environment).KAFKA_TOPIC)
    await sell(service, 80)
    const all = await shownBy(service)
    for (const mailer of mailers) mailer.beginAnew()
    for (const mailer of mailers) await mailer.until(() => expect(mailer.taken(all)).toEqual(all))
  })

  // In CI it has to be there: the test above fails without it.
  if (!hasPython && !process.env.CI) it.skip('in Python: needs confluent-kafka, see examples/README.md')
})

/** The program of README.md, in a file. */
function pasted({ KAFKA_BROKERS, KAFKA_TOPIC }: Topic): string {
  const [, program = ''] = /^```ts\n(.*?)^```/ms.exec(read('README.md')) ?? []
  expect(program.trimEnd().split('\n')).toHaveLength(15)
  const folder = temporaryFolder()
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const here = program
    .replace('127.0.0.1:9092', KAFKA_BROKERS)
    .replace('petstore.pets', KAFKA_TOPIC)
    .replace(', sasl }', ' }')
  writeFileSync(join(folder, 'react.ts'), here.replace("'mailer'", `'${KAFKA_TOPIC} react'`))
  return join(folder, 'react.ts')
}

/** Enough that a process is killed in the middle of them. */
const manyPets = Array.from({ length: 1500 }, (_, i) => {
  const pet = { id: 7_000_000 + i, name: `pet ${i}`, categoryId: i % 10, status: 'sold' }
  return petCreated({ eventId: `many ${i}`, pet, streamversion: 1 })
})

/** A moment before each mail, and between it and the position: this is where a kill does harm. */
const slowDown = `
  CREATE TABLE IF NOT EXISTS mailed (mail TEXT);
  CREATE TRIGGER IF NOT EXISTS slow_mail BEFORE INSERT ON outbox BEGIN
    INSERT INTO mailed VALUES (NEW.mail);
    SELECT count(*) FROM (WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT i FROM n);
  END;
  CREATE TRIGGER IF NOT EXISTS slow_position BEFORE INSERT ON positions WHEN EXISTS (SELECT 1 FROM mailed) BEGIN
    DELETE FROM mailed;
    SELECT count(*) FROM (WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT i FROM n);
  END;`

interface Taken {
  /** The last version of each pet that there is. */
  readonly versions: Readonly<Record<string, number>>
  readonly mails: readonly string[]
}

/** What a consumer that took every event has. */
async function shownBy(service: Client): Promise<Taken> {
  const pets = await service.list()
  const versions = await inParallel(pets.length, 8, async (i) => {
    const id = String(pets[i]?.id)
    const { body } = await service.request(`/v1/pets/${id}/events?limit=100`)
    const [last] = (body as { readonly streamversion?: number }[]).slice(-1)
    return [id, last?.streamversion ?? 1] as const
  })
  const sales = await service.listOrders('delivered')
  const mails = sales.map(({ id, petId }) => `Order ${id}: pet ${petId} is sold`)
  return { versions: Object.fromEntries(versions), mails: mails.toSorted() }
}

class Mailer {
  readonly #name: Name
  readonly #environment: Readonly<Record<string, string>>
  readonly #file: string
  #program: Program

  constructor(name: Name, { KAFKA_BROKERS, KAFKA_TOPIC }: Topic) {
    this.#name = name
    this.#file = join(temporaryFolder(), 'mailer.db')
    this.#environment = { KAFKA_BROKERS, KAFKA_TOPIC, DATABASE: this.#file }
    this.#program = this.#start()
  }

  /** Kills it as soon as it has stored another mail, and starts it anew. */
  async killAtWork(): Promise<void> {
    await this.until(() => this.#run(slowDown))
    const { mails } = this.#stored()
    await this.until(() => expect(this.#stored().mails.length).toBeGreaterThan(mails.length))
    await this.kill()
    this.#program = this.#start()
  }

  async kill(): Promise<void> {
    expect(await this.#program.end('SIGKILL')).toBe('SIGKILL')
  }

  /** Starts it at the first record, as examples/README.md says. */
  beginAnew(): void {
    this.#run(`${/DELETE FROM positions/.exec(readme)}`)
    this.#program = this.#start()
  }

  /** Fails at once if the program ends before. */
  async until(condition: () => void): Promise<void> {
    const { ended, errors } = this.#program
    const tooSoon = ended.then((code) => expect.fail(`${this.#name} ended with ${code}: ${errors()}`))
    await Promise.race([vi.waitFor(condition, patience), tooSoon])
  }

  /** What it has of the pets that are shown. */
  taken({ versions }: Taken): Taken {
    const { streams, mails } = this.#stored()
    return { versions: Object.fromEntries(streams.filter(([stream]) => stream in versions)), mails }
  }

  #start(): Program {
    const KAFKA_GROUP = randomUUID() // else it waits until the group notices that the one before was killed
    return startCommand(commands[this.#name], { ...this.#environment, KAFKA_GROUP })
  }

  #run(statements: string): void {
    using database = this.#open()
    database.exec(statements)
  }

  #open(): DatabaseSync {
    return new DatabaseSync(this.#file, { timeout: 10_000 })
  }

  #stored() {
    using database = this.#open()
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE name = 'outbox'").all()
    if (tables.length === 0) return { streams: [], mails: [] }
    const streams = database.prepare('SELECT stream, version FROM streams').all()
    const mails = database.prepare('SELECT mail FROM outbox ORDER BY mail').all()
    return {
      streams: streams.map(({ stream, version }) => [String(stream), Number(version)] as const),
      mails: mails.map(({ mail }) => String(mail)),
    }
  }
}
