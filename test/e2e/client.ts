import { expect } from 'vitest'
import { apiKey } from './service-process.ts'

export interface Pet {
  readonly id: number
  readonly name: string
  readonly categoryId: number
  readonly status: string
}

type Headers = Readonly<Record<string, string>>
type RequestOptions = Omit<RequestInit, 'headers'> & { readonly headers?: Headers }

export interface Answer {
  readonly status: number
  readonly headers: Response['headers']
  readonly body: unknown
}

/** The code of an error; undefined for any other answer. */
export function codeOf({ body }: Answer): string | undefined {
  return (body as { code?: string }).code
}

export const statuses = ['available', 'pending', 'sold'] as const

/** A client of the HTTP interface, as anybody would write one. */
export class Client {
  readonly #url: string

  constructor({ url }: { url: string }) {
    this.#url = url
  }

  async request(path: string, { headers = {}, ...options }: RequestOptions = {}): Promise<Answer> {
    const usual = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    const response = await fetch(new URL(path, this.#url), { headers: { ...usual, ...headers }, ...options })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

  post(pet: unknown, headers: Headers = {}): Promise<Answer> {
    return this.request('/v1/pets', { method: 'POST', body: JSON.stringify(pet), headers })
  }

  get(id: number, headers: Headers = {}): Promise<Answer> {
    return this.request(`/v1/pets/${id}`, { headers })
  }

  async create(name: string, status: string = 'available'): Promise<Pet> {
    const { status: code, body } = await this.post({ name, categoryId: 1, status })
    expect(code, JSON.stringify(body)).toBe(201)
    return body as Pet
  }

  /** Every pet, page by page along the links. */
  async list(query: { status?: string; limit?: number } = {}): Promise<Pet[]> {
    const found: Pet[] = []
    const parameters = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    )
    let path: string | undefined = `/v1/pets?${parameters}`
    while (path !== undefined) {
      const { status, headers, body }: Answer = await this.request(path)
      expect(status, JSON.stringify(body)).toBe(200)
      found.push(...(body as Pet[]))
      path = /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
    }
    return found
  }
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

/** Every one of these pets is there by id, in the list and under its status, once each, and no other is. */
export async function expectExactly(client: Client, pets: readonly Pet[]): Promise<void> {
  const byId = [...pets].sort((a, b) => a.id - b.id)
  expect(await client.list({ limit: 100 })).toEqual(byId)
  for (const status of statuses) {
    expect(await client.list({ status, limit: 100 })).toEqual(byId.filter((pet) => pet.status === status))
  }
  await inParallel(byId.length, 8, async (index) => {
    const pet = byId[index] as Pet
    expect((await client.get(pet.id)).body).toEqual(pet)
  })
}

/** Digits and characters come back as they were sent, on POST, GET and in the list: compared as text. */
export async function expectExactText(url: string): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const text = async (path: string, options = {}) => (await fetch(`${url}${path}`, { headers, ...options })).text()
  for (const categoryId of ['9223372036854775807', '-9223372036854775808', '9007199254740993', '0']) {
    const rest = `"name":"Zoë 🐕 \\"\\\\","categoryId":${categoryId},"status":"pending"}`
    const created = await text('/v1/pets', { method: 'POST', body: `{${rest}` })
    const id = /^\{"id":(\d+),/.exec(created)?.[1]
    expect(created).toBe(`{"id":${id},${rest}`)
    expect(await text(`/v1/pets/${id}`)).toBe(created)
    expect(await text('/v1/pets?status=pending&limit=100')).toContain(created)
  }
}
