import { expect, vi } from 'vitest'
import type { Client, Pet } from './client.ts'

const patience = { timeout: 60_000, interval: 5 }

/** Reads known pets over and over, by id, in the list and by status, and notes every answer that is untrue. */
export function watchFor(client: Client, pets: readonly Pet[]) {
  const untrue: string[] = []
  const seen = { 200: 0, 503: 0 }
  let stopped = false

  async function look(path: string, isTrue: (body: unknown) => boolean): Promise<void> {
    const { status, body } = await client.request(path)
    if (status === 503 || (status === 200 && isTrue(body))) seen[status]++
    else untrue.push(`${path}: ${status} ${JSON.stringify(body).slice(0, 200)}`)
  }
  const first = [...pets].sort((a, b) => a.id - b.id)
  /** A full page must hold what is known up to its last pet: pets added meanwhile may stand between the known ones. */
  const holds = (known: readonly Pet[], limit: number) => (body: unknown) => {
    const page = body as Pet[]
    const last = page.length === limit ? (page.at(-1)?.id ?? 0) : Number.MAX_SAFE_INTEGER
    return known.every(({ id }) => id > last || page.some((pet) => pet.id === id))
  }
  async function watch(n: number): Promise<void> {
    for (let i = n; !stopped; i++) {
      const pet = first[i % first.length] as Pet
      const ofStatus = first.filter(({ status }) => status === pet.status)
      await look(`/v1/pets/${pet.id}`, (body) => (body as Pet).name === pet.name)
      await look('/v1/pets?limit=100', holds(first, 100))
      await look(`/v1/pets?limit=100&status=${pet.status}`, holds(ofStatus, 100))
      await look('/v1/pets?limit=5', holds(first, 5))
    }
  }
  const watchers = [0, 7, 23].map(watch)
  async function until(status: 200 | 503): Promise<void> {
    const before = seen[status]
    await vi.waitFor(() => expect(seen[status]).toBeGreaterThan(before + 3), patience)
  }
  return {
    until200: () => until(200),
    until503: () => until(503),
    async stop(): Promise<string[]> {
      stopped = true
      await Promise.all(watchers)
      return untrue
    },
  }
}
