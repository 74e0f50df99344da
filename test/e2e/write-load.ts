import { expect, vi } from 'vitest'
import { type Answer, type Client, codeOf, inParallel, type Pet } from './client.ts'
import { petsIn, type StoredEvent } from './topic.ts'

const patience = { timeout: 90_000, interval: 20 }

/** One POST and what became of it. */
export interface Attempt {
  /** The name of the pet; no other attempt has it. */
  readonly name: string
  readonly key: string | undefined
  readonly status: number
  readonly code: string | undefined
  readonly pet: Pet
  readonly ms: number
}

/** Writers that add one pet after the other, every other one under an Idempotency-Key, whatever they are answered. */
export class WriteLoad {
  readonly attempts: Attempt[] = []
  readonly #client: Client
  readonly #done: Promise<unknown>
  #started = 0
  #stopped = false

  constructor(client: Client, writers: number) {
    this.#client = client
    this.#done = Promise.all(Array.from({ length: writers }, () => this.#write()))
    this.#done.catch(() => {}) // told by stop
  }

  /** Resolves once so many more answers of this status have come. */
  async until(count: number, status: number): Promise<void> {
    const answered = () => this.attempts.filter((attempt) => attempt.status === status).length
    const goal = answered() + count
    await vi.waitFor(() => expect(answered(), `answers ${status}`).toBeGreaterThanOrEqual(goal), patience)
  }

  /** The pet of the first 201. */
  firstPet(): Pet {
    const first = this.attempts.find(({ status }) => status === 201)
    expect(first).toBeDefined()
    return (first as Attempt).pet
  }

  /** Resolves once every writer has its last answer. */
  async stop(): Promise<readonly Attempt[]> {
    this.#stopped = true
    await this.#done
    return this.attempts
  }

  async #write(): Promise<void> {
    while (!this.#stopped) {
      const number = this.#started++
      const name = `pet ${number}`
      const key = number % 2 === 0 ? `key ${number}` : undefined
      const start = performance.now()
      const answer = await post(this.#client, name, key)
      const { status, body } = answer
      this.attempts.push({
        ...{ name, key, status, code: codeOf(answer), pet: body as Pet },
        ms: performance.now() - start,
      })
    }
  }
}

function post(client: Client, name: string, key: string | undefined): Promise<Answer> {
  return client.post({ name, categoryId: 1 }, key === undefined ? {} : { 'idempotency-key': `"${key}"` })
}

/** Sends a POST until it is answered 201, as anybody may who gives it an Idempotency-Key. */
export async function createOnce(client: Client, name: string, key: string): Promise<Answer> {
  const answer = await vi.waitFor(async () => {
    const each = await post(client, name, key)
    expect([503, 504], JSON.stringify(each.body)).not.toContain(each.status)
    return each
  }, patience)
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer
}

/** Every attempt with an unknown outcome and a key, until it has its pet. By name. */
export async function settleUnknown(client: Client, attempts: readonly Attempt[]): Promise<ReadonlyMap<string, Pet>> {
  const unknown = attempts.filter(({ status, key }) => status === 504 && key !== undefined)
  const pets = await inParallel(unknown.length, 8, async (i) => {
    const { name, key } = unknown[i] as Attempt
    return (await createOnce(client, name, key as string)).body as Pet
  })
  return new Map(pets.map((pet) => [pet.name, pet]))
}

/**
 * The answers told the truth about the log: what was created is in it once, what was refused is not, and of what was
 * sent again there is one event id. No id was given twice, and the API has the pets of the log and no others.
 */
export async function expectTruth(
  client: Client,
  {
    attempts,
    settled,
    events,
  }: {
    attempts: readonly Attempt[]
    settled: ReadonlyMap<string, Pet>
    events: readonly StoredEvent[]
  },
): Promise<void> {
  const byName = Map.groupBy(events, ({ pet }) => pet.name)
  const untrue = attempts.filter((attempt) => !isTrue(attempt, byName.get(attempt.name) ?? [], settled))
  expect(untrue.slice(0, 10)).toEqual([])
  expect(new Set(events.map(({ pet }) => pet.id)).size).toBe(events.length)
  const pets = petsIn(events)
  expect(new Set(pets.map(({ name }) => name)).size).toBe(pets.length)
  await vi.waitFor(async () => expect(await client.list({ limit: 100 })).toEqual(pets), { ...patience, interval: 200 })
}

function isTrue(
  { name, key, status, pet }: Attempt,
  stored: readonly StoredEvent[],
  settled: ReadonlyMap<string, Pet>,
) {
  if (status === 201) return stored.length === 1 && isSame(stored[0]?.pet, pet)
  if (status === 503) return stored.length === 0
  if (status !== 504) return false
  if (key === undefined) return stored.length <= 1
  return new Set(stored.map(({ eventId }) => eventId)).size === 1 && isSame(stored[0]?.pet, settled.get(name))
}

function isSame(one: Pet | undefined, other: Pet | undefined): boolean {
  return one !== undefined && JSON.stringify(one) === JSON.stringify(other)
}
