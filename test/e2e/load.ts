import { expect, vi } from 'vitest'
import { Clients, type WorkingOptions } from '../campaign/clients.ts'
import { contradictionsOf } from '../campaign/oracle.ts'
import { type Api, Recorder } from '../campaign/recorder.ts'
import { asLogRecord } from '../campaign/system/topic-admin.ts'
import { insist, Workload } from '../campaign/workload.ts'
import type { Exchange, Operation } from '../judge/history.ts'
import { Random } from '../lib/random.ts'
import { apiKey, Client, inParallel, keyed, type Pet } from './client.ts'
import { type Environment, expectVerified } from './service.ts'
import { consumed, creationsIn, readTopic, type Topic } from './topic.ts'

const patience = { timeout: 120_000, interval: 20 }

/** What clients ask for, one request after the other. */
type Work = WorkingOptions['workload']

/** Clients who send one request after the other, without a pause, whatever they are answered. */
export class Load {
  readonly #recorder = new Recorder((exchange) => this.#count(exchange))
  readonly #counts = new Map<string, number>()
  readonly #instances: Api[] = []
  readonly #clients: Clients

  constructor(
    services: readonly { readonly url: string }[],
    workers: number,
    workOf: (random: Random) => Work = adding,
  ) {
    this.turnTo(services)
    const random = new Random(Date.now())
    const workload = workOf(random)
    const options = { recorder: this.#recorder, instances: this.#instances, apiKey, random, workload, thinkMs: 0 }
    this.#clients = new Clients(options, workers)
  }

  turnTo(services: readonly { readonly url: string }[]): void {
    this.#instances.splice(0, this.#instances.length, ...services.map(({ url }) => ({ url, instance: url })))
  }

  /** All requests so far, with their answers. */
  get told(): readonly Exchange[] {
    return this.#recorder.exchanges
  }

  /** Those of all errors so far, each once. */
  get codes(): readonly string[] {
    return [...new Set(this.told.flatMap(({ code }) => code ?? []))]
  }

  /** Resolves once so many more answers of this status have come. */
  async until(count: number, status = 201, operation: Operation | 'any' = 'createPet'): Promise<void> {
    const answered = () => this.#counts.get(`${operation} ${status}`) ?? 0
    const goal = answered() + count
    await vi.waitFor(() => expect(answered(), `${operation}: ${status}`).toBeGreaterThanOrEqual(goal), patience)
  }

  /** Resolves once everyone has the last answer. */
  async stop(): Promise<void> {
    await this.#clients.stop()
  }

  /**
   * Stops. Keys give their pets again, no answer contradicts the log, and the API shows what the log says. What was sent
   * again has one event id, and no id was given twice, even to what did not take effect.
   */
  async expectTrue(environment: Environment & Topic): Promise<void> {
    await this.stop()
    const client = new Client(this.#instances[0] as Api)
    await this.#expectReplays(client)
    const records = await readTopic(environment)
    const history = { log: records.map(asLogRecord), exchanges: this.told }
    const partitions = Number(environment.KAFKA_PARTITIONS ?? 6)
    expect(contradictionsOf(history, partitions, false).slice(0, 5)).toEqual([])
    const creations = creationsIn(records)
    expect(new Set(creations.map(({ data }) => data.id)).size).toBe(creations.length)
    for (const same of Map.groupBy(creations, ({ id, idempotencykey = id }) => idempotencykey).values()) {
      expect(new Set(same.map(({ id }) => id)).size, JSON.stringify(same)).toBe(1)
    }
    const { pets, orders } = consumed(records)
    await vi.waitFor(async () => expect(await client.list()).toEqual(pets), { ...patience, interval: 200 })
    expect(await client.listOrders()).toEqual(orders)
    await expectVerified(environment)
  }

  async #expectReplays(client: Client): Promise<void> {
    const isKeyed = ({ operation, idempotencyKey }: Exchange) =>
      operation === 'createPet' && idempotencyKey !== undefined
    const done = this.told.filter((each) => isKeyed(each) && each.status === 201).slice(0, 50)
    await inParallel(done.length, 8, async (i) => {
      const { wanted, idempotencyKey = '', body } = done[i] as Exchange
      const again = () => client.post(wanted, keyed(idempotencyKey))
      await vi.waitFor(async () => expect(await again()).toMatchObject({ status: 201, body }), patience)
      expect((await again()).headers.get('idempotency-replayed')).toBe('true')
    })
  }

  #count({ operation, status }: Exchange): void {
    for (const what of [`${operation} ${status}`, `any ${status}`]) {
      this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
    }
  }
}

/** They add pets, every other one under an Idempotency-Key. */
function adding(random: Random): Work {
  let names = 0
  return {
    *act() {
      const number = names++
      const name = `pet ${number}`
      const asked = { operation: 'createPet', wanted: { name, categoryId: 1 } } as const
      yield* insist(number % 2 === 0 ? { ...asked, idempotencyKey: name } : asked, random)
    },
  }
}

/** They do all that the clients of the campaign do. */
export function buying(random: Random): Work {
  return new Workload(random)
}

/** They read these pets, each by id, in the list and in that of its status, and change nothing. */
export function reading(pets: readonly Pet[]): (random: Random) => Work {
  return (random) => ({
    *act() {
      const { id, status } = random.pick(pets)
      yield { operation: 'getPet', id }
      for (const page of [{ limit: 100 }, { limit: 100, status }, { limit: 5 }]) {
        yield { operation: 'listPets', page: { after: 0, ...page } }
      }
    },
  })
}
