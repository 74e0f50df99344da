import { expect, vi } from 'vitest'
import type { Order } from '../../examples/journal/rule.ts'
import { writeCursor } from '../../src/engine/http/values/tokens.ts'
import { type Answer, apiKey, type Headers, HttpClient } from '../lib/http-client.ts'

export { type Answer, apiKey, type Order }

export interface Pet {
  readonly id: number
  readonly name: string
  readonly categoryId: number
  readonly status: string
}

/** The code of an error; undefined for any other answer. */
export function codeOf({ body }: Answer): string | undefined {
  return (body as { code?: string } | undefined)?.code
}

/** The status and, of an error, the code. */
export function outcomeOf(answer: Answer): string {
  return `${answer.status} ${codeOf(answer) ?? ''}`.trim()
}

/** The header of a request under this key. */
export function keyed(key: string): Headers {
  return { 'idempotency-key': `"${key}"` }
}

/** A busy machine takes longer than the second that a POST waits for the read models by itself. */
const patient = { prefer: 'wait=10' }

export const statuses = ['available', 'pending', 'sold'] as const

/** A client of the pet store. */
export class Client extends HttpClient {
  post(pet: unknown, headers: Headers = {}): Promise<Answer> {
    return this.send('POST', '/v1/pets', pet, headers)
  }

  get(id: number, headers: Headers = {}): Promise<Answer> {
    return this.request(`/v1/pets/${id}`, { headers })
  }

  change(id: number, change: object, headers: Headers = {}): Promise<Answer> {
    return this.send('PATCH', `/v1/pets/${id}`, change, headers)
  }

  remove(id: number): Promise<Answer> {
    return this.request(`/v1/pets/${id}`, { method: 'DELETE' })
  }

  place(petId: number, headers: Headers = {}): Promise<Answer> {
    return this.send('POST', '/v1/store/orders', { petId }, headers)
  }

  getOrder(id: number): Promise<Answer> {
    return this.request(`/v1/store/orders/${id}`)
  }

  update(order: number, status: string, headers: Headers = {}): Promise<Answer> {
    return this.send('PATCH', `/v1/store/orders/${order}`, { status }, headers)
  }

  /** A pet that can be read at once, unless `headers` prefer otherwise. */
  async create(name: string, status: string = 'available', headers: Headers = patient): Promise<Pet> {
    return created(await this.post({ name, categoryId: 1, status }, headers))
  }

  async order(petId: number): Promise<Order> {
    return created(await this.place(petId))
  }

  /** Every pet, page by page. */
  list({ status }: { status?: string } = {}): Promise<Pet[]> {
    return this.#listed('/v1/pets', status)
  }

  listOrders(status?: string): Promise<Order[]> {
    return this.#listed('/v1/store/orders', status)
  }

  async #listed<T>(collection: string, status: string | undefined): Promise<T[]> {
    const first = `${collection}?limit=100${status === undefined ? '' : `&status=${status}`}`
    return (await Array.fromAsync(this.pages<T>(first))).flatMap(({ documents }) => documents)
  }
}

function created<T>({ status, text, body }: Answer): T {
  expect(status, text).toBe(201)
  return body as T
}

/** Sends a POST until it is answered 201, as anybody may who gives it an Idempotency-Key. The name is the key. */
export async function createOnce(client: Client, name: string): Promise<{ pet: Pet; isReplayed: boolean }> {
  const { status, text, body, headers } = await vi.waitFor(
    async () => {
      const answer = await client.post({ name, categoryId: 1 }, keyed(name))
      expect([503, 504], answer.text).not.toContain(answer.status)
      return answer
    },
    { timeout: 120_000, interval: 20 },
  )
  expect(status, text).toBe(201)
  return { pet: body as Pet, isReplayed: headers.get('idempotency-replayed') === 'true' }
}

/** Runs `count` tasks, `width` at a time. */
export async function inParallel<T>(count: number, width: number, task: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  let next = 0
  async function worker(): Promise<void> {
    while (next < count) {
      const index = next++
      results[index] = await task(index)
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  return results
}

export function createMany(client: Client, count: number): Promise<Pet[]> {
  return inParallel(count, 8, (i) => client.create(`pet ${i}`, statuses[i % 3]))
}

export function byId<T extends { readonly id: number }>(found: Iterable<T>): T[] {
  return [...found].sort((one, other) => one.id - other.id)
}

/** Every one of these pets is there by id, in the list and under its status, once each, and no other is. */
export async function expectExactly(client: Client, pets: readonly Pet[]): Promise<void> {
  const sorted = byId(pets)
  expect(await client.list()).toEqual(sorted)
  for (const status of statuses) {
    expect(await client.list({ status })).toEqual(sorted.filter((pet) => pet.status === status))
  }
  await inParallel(sorted.length, 8, async (index) => {
    const pet = sorted[index] as Pet
    expect((await client.get(pet.id)).body).toEqual(pet)
  })
}

/** As `expectExactly`, once there are as many: a POST answers 201 when its event is durable, though a projector may be late. */
export async function untilServed(client: Client, pets: readonly Pet[]): Promise<void> {
  const patience = { timeout: 60_000, interval: 100 }
  await vi.waitFor(async () => expect(await client.list()).toHaveLength(pets.length), patience)
  await expectExactly(client, pets)
}

/** Digits and characters come back as they were sent, on POST, GET and in the list: compared as text. */
export async function expectExactText(client: Client): Promise<void> {
  for (const categoryId of ['9223372036854775807', '-9223372036854775808', '9007199254740993', '0']) {
    const rest = `"name":"Zoë 🐕 \\"\\\\","categoryId":${categoryId},"status":"pending"}`
    const created = (await client.request('/v1/pets', { method: 'POST', body: `{${rest}`, headers: patient })).text
    const id = /^\{"id":(\d+),/.exec(created)?.[1]
    expect(created).toBe(`{"id":${id},${rest}`)
    expect((await client.get(Number(id))).text).toBe(created)
    const cursor = writeCursor(Number(id) - 1, 'pending') // there may be many before it
    expect((await client.request(`/v1/pets?limit=1&cursor=${cursor}&status=pending`)).text).toBe(`[${created}]`)
  }
}
