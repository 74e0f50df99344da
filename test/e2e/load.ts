import { expect, vi } from 'vitest'
import { Clients, type WorkingOptions } from '../campaign/clients.ts'
import { Followers } from '../campaign/followers.ts'
import { insist } from '../campaign/known.ts'
import { contradictionsOf } from '../campaign/oracle.ts'
import { type Api, type Asked, Recorder } from '../campaign/recorder.ts'
import { asLogRecord } from '../campaign/system/topic-admin.ts'
import { Workload } from '../campaign/workload.ts'
import type { Contradiction, Exchange } from '../judge/history.ts'
import type { Operation } from '../judge/operations.ts'
import { Random } from '../lib/random.ts'
import { whenDone } from '../lib/when-done.ts'
import { apiKey, Client, inParallel, type Pet } from './client.ts'
import { type Environment, expectVerified } from './service.ts'
import { consumed, readTopic, type Topic } from './topic.ts'

const patience = { timeout: 120_000, interval: 20 }

/** What clients ask for, one request after the other. */
export type Work = WorkingOptions['workload']
export type WorkOf = (random: Random) => Work

/** Clients who send one request after the other, without a pause, whatever they are answered. */
export class Load {
  readonly #recorder = new Recorder((exchange) => this.#count(exchange))
  readonly #counts = new Map<string, number>()
  readonly #instances: Api[] = []
  readonly #random = new Random(Date.now())
  readonly #options = { recorder: this.#recorder, instances: this.#instances, apiKey, random: this.#random }
  readonly #clients: (Clients | Followers)[] = []

  constructor(services: readonly { readonly url: string }[], workers: number, workOf: WorkOf = adding) {
    this.turnTo(services)
    this.join(workers, workOf)
    whenDone(() => this.stop())
  }

  /** Others come; resolves, when what it returns is called, once they have left. */
  join(workers: number, workOf: WorkOf = adding): () => Promise<void> {
    const clients = new Clients({ ...this.#options, workload: workOf(this.#random), thinkMs: 0 }, workers)
    this.#clients.push(clients)
    return () => clients.stop()
  }

  /** Others follow the events of all pets. */
  follow(count: number): void {
    this.#clients.push(new Followers(this.#options, count))
  }

  /** Sends requests to these alone from now on; some may still wait for an answer of another. */
  turnTo(services: readonly { readonly url: string }[]): void {
    this.#instances.splice(0, this.#instances.length, ...services.map(({ url }) => ({ url, instance: url })))
  }

  /** All requests so far, with their answers. */
  get told(): readonly Exchange[] {
    return this.#recorder.exchanges
  }

  /** What failed though log and read models answered: on a busy machine either is slow for a moment, and that is told. */
  get failed(): Exchange[] {
    const isSlow = /^503 (read_model_(unavailable|behind)|event_log_unavailable)$|^504 append_outcome_unknown$/
    return this.told.filter(({ status = 500, code }) => status >= 500 && !isSlow.test(`${status} ${code}`))
  }

  /** The numbers of requests that are not answered, although one is that so many were sent before. */
  overtaken(by: number): number[] {
    const answered = new Set(this.told.map(({ number }) => number))
    const last = Math.max(0, ...answered)
    return Array.from({ length: Math.max(0, last - by) }, (_, number) => number).filter(
      (number) => !answered.has(number),
    )
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
    await Promise.all(this.#clients.map((clients) => clients.stop()))
  }

  /** Stops. No answer contradicts the log, and the API shows what the log says. */
  async expectTrue(environment: Environment & Topic, meant?: (exchange: Exchange) => Exchange): Promise<void> {
    expect((await this.contradictions(environment, meant)).slice(0, 5)).toEqual([])
    const { pets, orders } = consumed(await readTopic(environment))
    const client = new Client(this.#instances[0] as Api)
    await vi.waitFor(async () => expect(await client.list()).toEqual(pets), { ...patience, interval: 200 })
    expect(await client.listOrders()).toEqual(orders)
    await expectVerified(environment)
  }

  /**
   * Stops, sends what has a key once more, and resolves to what contradicts the log. `meant`: what the answers of another
   * release stand for.
   */
  async contradictions(
    environment: Environment & Topic,
    meant = (exchange: Exchange): Exchange => exchange,
  ): Promise<Contradiction[]> {
    await this.stop()
    await this.#sendAgain()
    const history = { log: (await readTopic(environment)).map(asLogRecord), exchanges: this.told.map(meant) }
    return contradictionsOf(history, Number(environment.KAFKA_PARTITIONS ?? 6), false)
  }

  async #sendAgain(): Promise<void> {
    const created = this.told.filter(({ operation, status }) => operation === 'createPet' && status === 201)
    const keyed = new Map(created.map((exchange) => [exchange.idempotencyKey, exchange]))
    keyed.delete(undefined)
    const known = [...keyed.values()].slice(0, 50)
    await inParallel(known.length, 8, async (i) => {
      const { operation, wanted, idempotencyKey } = known[i] as Exchange & { readonly wanted: object }
      const again = { operation, wanted, idempotencyKey: idempotencyKey ?? '', session: undefined, apiKey }
      const send = () => this.#recorder.ask(this.#instances[0] as Api, again)
      await vi.waitFor(async () => expect(await send()).toMatchObject({ status: 201, isReplayed: true }), patience)
    })
  }

  #count({ operation, status }: Exchange): void {
    for (const what of [`${operation} ${status}`, `any ${status}`]) {
      this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
    }
  }
}

/** They add pets. */
function adding(random: Random): Work {
  return {
    *act() {
      yield* addPet(random)
    },
  }
}

/** Numbers the pets of all loads, since the judge takes two of one name for one that was written twice. */
let added = 0

/** Adds a pet: every other one under an Idempotency-Key, the others as is preferred. */
export function addPet(random: Random, preferred: Pick<Asked, 'waitSeconds'> = {}): ReturnType<typeof insist> {
  const number = added++
  const name = `added ${number}`
  const own = number % 2 === 0 ? { idempotencyKey: name } : preferred
  return insist({ operation: 'createPet', wanted: { name, categoryId: 1 }, ...own }, random)
}

/** They do all that the clients of the campaign do. */
export function buying(random: Random): Work {
  return new Workload(random)
}

/** They read these pets, each by id, in the list and in that of its status, and change nothing. */
export function reading(pets: readonly Pick<Pet, 'id' | 'status'>[]): WorkOf {
  return (random) => ({
    *act() {
      const { id, status } = random.pick(pets)
      yield { operation: 'getPet', id }
      for (const page of [{ limit: 100 }, { limit: 100, filters: { status } }, { limit: 5 }]) {
        yield { operation: 'listPets', page: { after: 0, ...page } }
      }
    },
  })
}
