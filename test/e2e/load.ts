import { setTimeout as delay } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { type Answer, byId, type Client, codeOf, inParallel, keyed, type Order, type Pet } from './client.ts'
import { type Environment, expectVerified } from './service.ts'
import { Consumer, readTopic, type StoredEvent, type Topic } from './topic.ts'

const patience = { timeout: 120_000, interval: 20 }

/** One request and its answer: a 504 also where a connection was lost before there was one. */
export interface Told {
  readonly what: 'create' | 'place' | 'update'
  /** The name of the pet that it is about; each create has its own. */
  readonly name: string
  /** Whether it can be sent again without being done twice. */
  readonly isKeyed: boolean
  readonly status: number
  readonly code: string | undefined
  readonly body: Partial<Pet & Order>
  readonly token: string
  readonly ms: number
}

type About = Pick<Told, 'what' | 'name' | 'isKeyed'>

/**
 * Clients who add one pet after the other, every other one under an Idempotency-Key, whatever they are answered. Those
 * who buy also order each, twice at once, and have the order delivered or cancelled.
 */
export class Load {
  readonly told: Told[] = []
  #clients: readonly Client[]
  readonly #buys: boolean
  readonly #done: Promise<unknown>
  #started = 0
  #stopped = false

  constructor(clients: readonly Client[], workers: number, { buys = false } = {}) {
    this.#clients = clients
    this.#buys = buys
    this.#done = Promise.all(Array.from({ length: workers }, () => this.#work()))
    this.#done.catch(() => {}) // told by stop
  }

  turnTo(clients: readonly Client[]): void {
    this.#clients = clients
  }

  /** Resolves once so many more answers of this status have come. */
  async until(count: number, status = 201, what: Told['what'] = 'create'): Promise<void> {
    const answered = () => this.told.filter((told) => told.status === status && told.what === what).length
    const goal = answered() + count
    await vi.waitFor(() => expect(answered(), `${what}: ${status}`).toBeGreaterThanOrEqual(goal), patience)
  }

  /** Resolves once everyone has the last answer. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#done
  }

  /**
   * Stops. The answers told the truth about the log: what was done is in it once, what was refused is not, and of what was
   * sent again there is one event id. No id was given twice, a key gives its pet again, and the API shows what the log says.
   */
  async expectTrue(client: Client, environment: Environment & Topic): Promise<void> {
    await this.stop()
    const underKeys = this.told.filter(({ what, isKeyed }) => what === 'create' && isKeyed)
    const again = (status: number, most: number) => {
      const some = underKeys.filter((told) => told.status === status).slice(0, most)
      return inParallel(
        some.length,
        8,
        async (i) => [some[i] as Told, await createOnce(client, some[i]?.name ?? '')] as const,
      )
    }
    for (const [told, { headers, body }] of await again(201, 50)) {
      expect([headers.get('idempotency-replayed'), body]).toEqual(['true', told.body])
    }
    const settled = new Map((await again(504, Infinity)).map(([{ name }, { body }]) => [name, body as Told['body']]))

    const log = new Consumer(await readTopic(environment))
    expect(log.impossible).toEqual([])
    const byName = Map.groupBy(log.creations, ({ data }) => data.name)
    const untrue = this.told.filter(
      (told) => !isTrue({ ...told, body: settled.get(told.name) ?? told.body }, byName.get(told.name) ?? [], log),
    )
    expect(untrue.slice(0, 5)).toEqual([])
    expect(new Set(log.creations.map(({ data }) => data.id)).size).toBe(log.creations.length)
    const pets = byId(log.pets.values())
    expect(new Set(pets.map(({ name }) => name)).size).toBe(pets.length)
    await vi.waitFor(async () => expect(await client.list()).toEqual(pets), { ...patience, interval: 200 })
    expect(await client.listOrders()).toEqual(byId(log.orders.values()))
    await expectVerified(environment)
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      const number = this.#started++
      const about = { name: `pet ${number}`, isKeyed: number % 2 === 0 }
      const pet = await this.#ask({ what: 'create', ...about }, (client) => post(client, about))
      if (!this.#buys || pet?.status !== 201) continue
      const { id = 0 } = pet.body
      const own = { 'consistency-token': pet.token } // a projector may be away: the order is refused as of the read model
      const place = (headers: Record<string, string>, isKeyed: boolean) =>
        this.#insist({ what: 'place', name: about.name, isKeyed }, (client) => client.place(id, headers))
      const rivals = await Promise.all([place({ ...own, ...keyed(about.name) }, true), place(own, false)])
      const order = rivals.find((told) => told?.status === 201)
      if (order === undefined) continue
      for (const status of number % 3 === 0 ? ['cancelled'] : ['approved', 'delivered']) {
        const update = { what: 'update', name: about.name, isKeyed: true } as const
        const told = await this.#insist(update, (client) => client.update(order.body.id ?? 0, status))
        if (told?.status === 200) expect(told.body.status).toBe(status)
      }
    }
  }

  /** Asks again while it was not done, or may not have been and may be done again. */
  async #insist(about: About, request: (client: Client) => Promise<Answer>): Promise<Told | undefined> {
    for (;;) {
      const told = await this.#ask(about, request)
      const isOpen = told?.status === 503 || (told?.status === 504 && about.isKeyed)
      if (!isOpen || this.#stopped) return told
    }
  }

  /** Asks one instance or, where that does not run, the next. */
  async #ask(about: About, request: (client: Client) => Promise<Answer>): Promise<Told | undefined> {
    for (let turn = this.told.length; !this.#stopped; turn++) {
      const answer = await request(this.#clients[turn % this.#clients.length] as Client).catch(afterFailure)
      if (answer !== undefined) {
        const { status, ms, headers } = answer
        const token = headers.get('consistency-token') ?? ''
        this.told.push({ ...about, status, code: codeOf(answer), body: answer.body as Told['body'], token, ms })
        return this.told.at(-1)
      }
      await delay(10)
    }
    return undefined
  }
}

/** Undefined where the request was not sent; else nobody knows what became of it. */
function afterFailure({ cause: { code } }: { cause: { code?: string } }): Answer | undefined {
  if (code === 'ECONNREFUSED') return undefined
  return { status: 504, headers: new Headers(), text: '', body: { code }, ms: 0 }
}

function post(client: Client, { name, isKeyed }: Pick<Told, 'name' | 'isKeyed'>): Promise<Answer> {
  return client.post({ name, categoryId: 1 }, isKeyed ? keyed(name) : {})
}

/** Sends a POST until it is answered 201, as anybody may who gives it an Idempotency-Key. The name is the key. */
export async function createOnce(client: Client, name: string): Promise<Answer> {
  const answer = await vi.waitFor(async () => {
    const each = await post(client, { name, isKeyed: true })
    expect([503, 504], each.text).not.toContain(each.status)
    return each
  }, patience)
  expect(answer.status, answer.text).toBe(201)
  return answer
}

/** The body of a create with an unknown outcome is that of its repetition; `stored` are the events with its name. */
function isTrue({ what, status, code, body, isKeyed }: Told, stored: readonly StoredEvent[], log: Consumer): boolean {
  const { id = 0 } = body
  const isCreate = what === 'create'
  if (isCreate && status === 201) return stored.length === 1 && isSame(stored[0]?.data, body)
  if (isCreate && status === 503) return stored.length === 0
  if (isCreate && status === 504) {
    if (!isKeyed) return stored.length <= 1
    return new Set(stored.map((event) => event.id)).size === 1 && isSame(stored[0]?.data, body)
  }
  if (what === 'place' && status === 201) {
    const { petId, placedAt } = log.orders.get(id) ?? {}
    return petId === body.petId && placedAt === body.placedAt
  }
  if (what === 'place' && status === 409) {
    const isOrdered = log.orders.values().some(({ petId }) => petId === stored[0]?.data.id)
    return isOrdered && code === 'pet_not_available'
  }
  if (what === 'update' && status === 200) return log.history.get(id)?.includes(body.status ?? '') === true
  return !isCreate && (status === 503 || status === 504)
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
