import { expect, vi } from 'vitest'
import { type Answer, type Client, codeOf, type Pet } from './client.ts'
import { byId, Consumer, type Order } from './consumer.ts'
import { readTopic } from './topic.ts'

const patience = { timeout: 120_000, interval: 20 }

/** One request and its answer. */
interface Told {
  readonly what: 'create' | 'place' | 'update'
  /** The name of the pet that it is about. */
  readonly name: string
  readonly isKeyed: boolean
  readonly status: number
  readonly code: string | undefined
  readonly body: Partial<Pet & Order>
}

/** Buyers who add a pet, order it, and have the order delivered or cancelled, over and over, whatever they are answered. */
export class OrderLoad {
  readonly told: Told[] = []
  #clients: readonly Client[]
  readonly #done: Promise<unknown>
  #started = 0
  #finished = 0
  #stopped = false

  constructor(clients: readonly Client[], buyers: number) {
    this.#clients = clients
    this.#done = Promise.all(Array.from({ length: buyers }, () => this.#buy()))
    this.#done.catch(() => {}) // told by stop
  }

  turnTo(clients: readonly Client[]): void {
    this.#clients = clients
  }

  /** Resolves once so many more orders have come to their end. */
  async until(count: number): Promise<void> {
    const goal = this.#finished + count
    await vi.waitFor(() => expect(this.#finished, 'orders finished').toBeGreaterThanOrEqual(goal), patience)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#done
  }

  async #buy(): Promise<void> {
    while (!this.#stopped) {
      const number = this.#started++
      const name = `pet ${number}`
      // Every third buyer sends no key, and gives up where an outcome is unknown.
      const isKeyed = number % 3 !== 0
      const pet = await this.#post({ what: 'create', name, isKeyed }, '/v1/pets', { name, categoryId: 1 })
      if (pet === undefined) continue
      const own = { 'consistency-token': pet.token } // a projector may be away: the order is refused as of the read model
      const order = await this.#post({ what: 'place', name, isKeyed }, '/v1/store/orders', { petId: pet.id }, own)
      if (order === undefined) continue
      const last = number % 4 === 0 ? ['cancelled'] : ['approved', 'delivered']
      for (const status of last) await this.#update(name, order.id, status)
      this.#finished++
    }
  }

  async #post(
    { what, name, isKeyed }: Pick<Told, 'what' | 'name' | 'isKeyed'>,
    path: string,
    body: object,
    own: Record<string, string> = {},
  ): Promise<{ id: number; token: string } | undefined> {
    const headers = isKeyed ? { ...own, 'idempotency-key': `"${what} ${name}"` } : own
    for (let turn = 0; ; turn++) {
      const answer = await this.#send(turn, path, { method: 'POST', body: JSON.stringify(body), headers })
      if (answer === undefined) {
        if (isKeyed) continue // its instance was killed: another one is asked
        this.told.push({ what, name, isKeyed, status: 504, code: undefined, body: {} })
        return undefined
      }
      const told = {
        what,
        name,
        isKeyed,
        status: answer.status,
        code: codeOf(answer),
        body: answer.body as Told['body'],
      }
      this.told.push(told)
      if (told.status === 201) return { id: told.body.id ?? 0, token: answer.headers.get('consistency-token') ?? '' }
      if (told.status !== 503 && (told.status !== 504 || !isKeyed)) return undefined
    }
  }

  async #update(name: string, order: number, status: string): Promise<void> {
    for (let turn = 0; ; turn++) {
      const request = { method: 'PATCH', body: JSON.stringify({ status }) }
      const answer = await this.#send(turn, `/v1/store/orders/${order}`, request)
      if (answer === undefined) continue
      const body = answer.body as Told['body']
      this.told.push({ what: 'update', name, isKeyed: true, status: answer.status, code: codeOf(answer), body })
      if (answer.status === 200) expect(body.status).toBe(status)
      if (answer.status !== 503 && answer.status !== 504) return
    }
  }

  async #send(turn: number, path: string, options: Parameters<Client['request']>[1]): Promise<Answer | undefined> {
    const client = this.#clients[(this.#started + turn) % this.#clients.length] as Client
    return await client.request(path, options).catch(() => undefined)
  }
}

/** Every 2xx took effect once and as it was told, nothing refused did, and the API shows what the log says. */
export async function expectOrdersTrue(
  client: Client,
  load: OrderLoad,
  { KAFKA_BROKERS, KAFKA_TOPIC }: { readonly KAFKA_BROKERS: string; readonly KAFKA_TOPIC: string },
): Promise<void> {
  const consumer = new Consumer(await readTopic(KAFKA_BROKERS, KAFKA_TOPIC))
  expect(consumer.impossible).toEqual([])
  const named = Map.groupBy(consumer.pets.values(), ({ name }) => name)
  const untrue = load.told.filter((told) => !isTrue(told, named.get(told.name) ?? [], consumer))
  expect(untrue.slice(0, 5)).toEqual([])
  const refused = load.told.filter(({ status }) => ![200, 201, 503, 504].includes(status))
  expect(refused.slice(0, 5)).toEqual([])
  expect([...named.values()].filter((pets) => pets.length > 1)).toEqual([])
  await vi.waitFor(
    async () => expect(await client.list({ limit: 100 })).toEqual(byId(consumer.pets.values())),
    patience,
  )
  expect(await listOrders(client)).toEqual(byId(consumer.orders.values()))
}

function isTrue({ what, status, body, isKeyed, name }: Told, pets: readonly Pet[], consumer: Consumer): boolean {
  if (what === 'create') {
    if (status === 201) return pets.length === 1 && pets[0]?.id === body.id && pets[0]?.name === name
    return isKeyed || status !== 503 || pets.length <= 1
  }
  const order = consumer.orders.get(body.id ?? 0)
  if (what === 'place') return status !== 201 || (order?.petId === body.petId && order?.placedAt === body.placedAt)
  return status !== 200 || consumer.history.get(body.id ?? 0)?.includes(body.status ?? '') === true
}

/** Every order, page by page along the links. */
export async function listOrders(client: Client, status?: string): Promise<Order[]> {
  const found: Order[] = []
  const filter = status === undefined ? '' : `&status=${status}`
  for (let path: string | undefined = `/v1/store/orders?limit=100${filter}`; path !== undefined; ) {
    const { status: code, headers, body }: Answer = await client.request(path)
    expect(code, JSON.stringify(body)).toBe(200)
    found.push(...(body as Order[]))
    path = /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
  }
  return found
}
