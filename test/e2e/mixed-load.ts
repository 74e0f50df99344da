import { expect, vi } from 'vitest'
import { writeCursor } from '../../src/http/cursor.ts'
import { AnswerTable, type Expected } from './answer-table.ts'
import { statuses } from './client.ts'
import type { SeededPets } from './seeded-pets.ts'
import { apiKey, type ServiceProcess } from './service-process.ts'

const patience = { timeout: 90_000, interval: 20 }
const limit = 50
const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }

type Look = () => Promise<void>

interface Written {
  readonly id: number
  readonly document: string
  readonly token: string
}

/**
 * Clients that read known pets in every way there is and add others, until told to stop, and compare each answer, as
 * text, with what it has to be.
 */
export class MixedLoad {
  readonly table = new AnswerTable()
  readonly #services: readonly ServiceProcess[]
  readonly #pets: SeededPets
  readonly #done: Promise<unknown>
  /** What any answer has shown: on the same instance it may never be gone again. */
  readonly #shown = new Map<string, Map<number, string>>()
  readonly #written = new Map<number, string>()
  #started = 0
  #stopped = false

  constructor(services: readonly ServiceProcess[], pets: SeededPets, { readers = 4, writers = 2 } = {}) {
    this.#services = services
    this.#pets = pets
    for (const { url } of services) this.#shown.set(url, new Map())
    const reading = Array.from({ length: readers }, (_, n) => this.#read(n))
    const writing = Array.from({ length: writers }, (_, n) => this.#write(n))
    this.#done = Promise.all([...reading, ...writing])
    this.#done.catch(() => {}) // told by stop
  }

  /** Resolves once so many more reads of each kind have been answered. */
  async until(count: number): Promise<void> {
    const goals = this.table.counts().map(([kind, answers]) => [kind, answers + count] as const)
    await vi.waitFor(() => {
      const now = new Map(this.table.counts())
      for (const [kind, goal] of goals) expect(now.get(kind), kind).toBeGreaterThanOrEqual(goal)
    }, patience)
  }

  /** Resolves, once everyone has the last answer, to the table of all answers. */
  async stop(): Promise<AnswerTable> {
    this.#stopped = true
    await this.#done
    for (const shown of this.#shown.values()) {
      for (const [id, document] of shown) this.table.confirm('first page', document === this.#written.get(id), document)
    }
    return this.table
  }

  async #read(reader: number): Promise<void> {
    for (let turn = reader; !this.#stopped; turn++) {
      const { url } = this.#services[turn % this.#services.length] as ServiceProcess
      const n = Math.floor(Math.random() * this.#pets.count)
      const looks: Look[] = [
        () => this.#look(url, 'by id', `/${this.#pets.id(n)}`, { text: this.#pets.document(n) }),
        () => this.#look(url, 'no such id', `/${this.#pets.id(n + this.#pets.count)}`, 'nothing'),
        () => this.#firstPage(url),
        () => this.#page(url, 'deep page', n),
        () => this.#page(url, 'last page', this.#pets.count - 1 - (n % limit)),
        () => this.#statusPage(url, n),
      ]
      for (const look of looks) await look()
    }
  }

  async #write(writer: number): Promise<void> {
    for (let turn = writer; !this.#stopped; turn++) {
      const [here, there] = [0, 1].map((n) => this.#services[(turn + n) % this.#services.length] as ServiceProcess)
      const written = await this.#add((here as ServiceProcess).url)
      if (written === undefined) continue
      const { url } = there as ServiceProcess
      const { id, document: text, token } = written
      const own = { 'consistency-token': token }
      await this.#look(url, 'by id, token', `/${id}`, { text, since: 'token' }, own)
      const list = `?limit=1&cursor=${writeCursor(id - 1, undefined)}`
      if (id > 1) await this.#look(url, 'page, token', list, { text: `[${text}]`, since: 'token' }, own)
    }
  }

  /** Every other one does not wait for the read models, so that its token has something to say. */
  async #add(url: string): Promise<Written | undefined> {
    const number = this.#started++
    const rest = `"name":"written ${number}","categoryId":7,"status":"${statuses[number % 3]}"}`
    const prefer: Record<string, string> = number % 2 === 0 ? { prefer: 'wait=0' } : {}
    const { status, text, ms, ...answer } = await send(url, '', { method: 'POST', body: `{${rest}` }, prefer)
    this.table.add('POST', { status, text, ms }, status === 201 ? { text } : 'nothing')
    if (status !== 201) return undefined
    const id = Number(/^\{"id":(\d+),/.exec(text)?.[1])
    this.table.confirm('POST', text === `{"id":${id},${rest}`, text)
    this.#written.set(id, text)
    return { id, document: text, token: answer.headers.get('consistency-token') ?? '' }
  }

  #page(url: string, kind: string, n: number): Promise<void> {
    const path = `?limit=${limit}&cursor=${writeCursor(this.#pets.id(n) - 1, undefined)}`
    return this.#look(url, kind, path, { text: this.#pets.page(n, limit, 1) })
  }

  #statusPage(url: string, n: number): Promise<void> {
    const status = this.#pets.status(n)
    const path = `?limit=${limit}&status=${status}&cursor=${writeCursor(this.#pets.id(n) - 1, status)}`
    return this.#look(url, 'by status', path, { text: this.#pets.page(n, limit, 3) })
  }

  /** It changes with the writes: everything that was on it before, up to its last pet, has to be there again. */
  async #firstPage(url: string): Promise<void> {
    const shown = this.#shown.get(url) as Map<number, string>
    const before = [...shown]
    const answer = await send(url, '?limit=100')
    if (answer.status !== 200) return this.table.add('first page', answer, { text: '' })
    const found = new Map((JSON.parse(answer.text) as { id: number }[]).map((pet) => [pet.id, JSON.stringify(pet)]))
    const last = [...found.keys()].at(-1) ?? 0
    const again = before.filter(([id]) => id <= last)
    const text = again.every(([id, document]) => found.get(id) === document) ? answer.text : 'what was there before'
    this.table.add('first page', answer, { text })
    for (const [id, document] of found) if (id < this.#pets.id(0)) shown.set(id, document)
  }

  async #look(url: string, kind: string, path: string, expected: Expected, own: Record<string, string> = {}) {
    this.table.add(kind, await send(url, path, {}, own), expected)
  }
}

async function send(url: string, path: string, options: RequestInit = {}, own: Record<string, string> = {}) {
  const start = performance.now()
  const response = await fetch(`${url}/v1/pets${path}`, { ...options, headers: { ...headers, ...own } })
  const text = await response.text()
  return { status: response.status, text, headers: response.headers, ms: performance.now() - start }
}
