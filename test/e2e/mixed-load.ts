import { expect, vi } from 'vitest'
import { writeCursor } from '../../src/http/tokens.ts'
import { AnswerTable, type Expected } from './answer-table.ts'
import { Client, statuses } from './client.ts'
import type { SeededPets } from './seeded-pets.ts'

const patience = { timeout: 90_000, interval: 20 }
const limit = 50

export interface LoadedService {
  readonly url: string
  /** How its release shows what any release has written; as it was written when omitted. */
  readonly shows?: (documents: string) => string
}

/**
 * Clients that read known pets in every way there is and add others, until told to stop, and compare each answer, as
 * text, with what it has to be.
 */
export class MixedLoad {
  readonly table = new AnswerTable()
  #services: readonly LoadedService[]
  readonly #pets: SeededPets
  readonly #done: Promise<unknown>
  /** What everyone is doing now. */
  readonly #turns: Promise<void>[] = []
  /** What any answer has shown: on the same instance it may never be gone again. */
  readonly #shown = new Map<LoadedService, Map<number, string>>()
  readonly #written = new Map<number, string>()
  #started = 0
  #stopped = false

  constructor(services: readonly LoadedService[], pets: SeededPets, { readers = 4, writers = 2 } = {}) {
    this.#services = services
    this.#pets = pets
    const workers = Array.from({ length: readers + writers }, (_, n) => this.#repeat(n, n < readers))
    this.#done = Promise.all(workers)
    this.#done.catch(() => {}) // told by `expectTrue`
  }

  /** Sends requests to these alone from now on; resolves once nobody waits for an answer of another. */
  async turnTo(services: readonly LoadedService[]): Promise<void> {
    this.#services = services
    await Promise.all(this.#turns)
  }

  /** Resolves once so many more reads of each kind have been answered. */
  async until(count: number): Promise<void> {
    const goals = this.table.counts().map(([kind, answers]) => [kind, answers + count] as const)
    await vi.waitFor(() => {
      const now = new Map(this.table.counts())
      for (const [kind, goal] of goals) expect(now.get(kind), kind).toBeGreaterThanOrEqual(goal)
    }, patience)
  }

  /** Stops, and prints the table of all answers. None was untrue. */
  async expectTrue(): Promise<AnswerTable> {
    this.#stopped = true
    await this.#done
    for (const [{ shows = asWritten }, shown] of this.#shown) {
      for (const [id, document] of shown) {
        this.table.confirm('first page', document === shows(this.#written.get(id) ?? ''), document)
      }
    }
    process.stderr.write(`\n${this.table}\n`)
    expect(this.table.untrue).toEqual([])
    return this.table
  }

  async #repeat(worker: number, reads: boolean): Promise<void> {
    for (let turn = worker; !this.#stopped; turn++) {
      this.#turns[worker] = reads ? this.#read(turn) : this.#write(turn)
      await this.#turns[worker]
    }
  }

  async #read(turn: number): Promise<void> {
    const service = this.#serviceAt(turn)
    const n = Math.floor(Math.random() * this.#pets.count)
    const status = this.#pets.status(n)
    const from = (n: number, status?: string) => `limit=${limit}&cursor=${writeCursor(this.#pets.id(n) - 1, status)}`
    const deep = { text: this.#pets.page(n, limit, 1) }
    const lastN = this.#pets.count - 1 - (n % limit)
    const ofStatus = { text: this.#pets.page(n, limit, 3) }
    await this.#look(service, 'by id', `/${this.#pets.id(n)}`, { text: this.#pets.document(n) })
    await this.#look(service, 'no such id', `/${this.#pets.id(n + this.#pets.count)}`, 'nothing')
    await this.#firstPage(service)
    await this.#look(service, 'deep page', `?${from(n)}`, deep)
    await this.#look(service, 'last page', `?${from(lastN)}`, { text: this.#pets.page(lastN, limit, 1) })
    await this.#look(service, 'by status', `?status=${status}&${from(n, status)}`, ofStatus)
  }

  async #write(turn: number): Promise<void> {
    const [here, there] = [this.#serviceAt(turn), this.#serviceAt(turn + 1)]
    const written = await this.#add(here)
    if (written === undefined) return
    const { id, token } = written
    const expected = { text: this.#written.get(id) ?? '', since: 'token' } as const
    const headers = { 'consistency-token': token }
    await this.#look(there, 'by id, token', `/${id}`, expected, headers)
    const page = `?limit=1&cursor=${writeCursor(id - 1, undefined)}`
    if (id > 1) await this.#look(there, 'page, token', page, { ...expected, text: `[${expected.text}]` }, headers)
  }

  #serviceAt(turn: number): LoadedService {
    return this.#services[turn % this.#services.length] as LoadedService
  }

  /** Every other one does not wait for the read models, so that its token has something to say. */
  async #add({ url, shows = asWritten }: LoadedService): Promise<{ id: number; token: string } | undefined> {
    const number = this.#started++
    const rest = `"name":"written ${number}","categoryId":7,"status":"${statuses[number % 3]}"}`
    const headers: Record<string, string> = number % 2 === 0 ? { prefer: 'wait=0' } : {}
    const answer = await new Client({ url }).request('/v1/pets', { method: 'POST', body: `{${rest}`, headers })
    const { status, text } = answer
    this.table.add('POST', answer, status === 201 ? { text } : 'nothing')
    if (status !== 201) return undefined
    const id = Number(/^\{"id":(\d+),/.exec(text)?.[1])
    // A release that shows pets otherwise may answer with what it shows.
    const document = `{"id":${id},${rest}`
    this.table.confirm('POST', text === document || text === shows(document), text)
    this.#written.set(id, document)
    return { id, token: answer.headers.get('consistency-token') ?? '' }
  }

  /** It changes with the writes: everything that was on it before, up to its last pet, has to be there again. */
  async #firstPage(service: LoadedService): Promise<void> {
    const shown = this.#shown.get(service) ?? new Map<number, string>()
    this.#shown.set(service, shown)
    const before = [...shown]
    const answer = await new Client(service).request('/v1/pets?limit=100')
    if (answer.status !== 200) return this.table.add('first page', answer, { text: '' })
    const found = new Map((answer.body as { id: number }[]).map((pet) => [pet.id, JSON.stringify(pet)]))
    const last = [...found.keys()].at(-1) ?? 0
    const again = before.filter(([id]) => id <= last)
    const text = again.every(([id, document]) => found.get(id) === document) ? answer.text : 'what was there before'
    this.table.add('first page', answer, { text })
    for (const [id, document] of found) if (id < this.#pets.id(0)) shown.set(id, document)
  }

  async #look(
    { url, shows = asWritten }: LoadedService,
    kind: string,
    path: string,
    written: Expected,
    headers: Record<string, string> = {},
  ): Promise<void> {
    const expected = written === 'nothing' ? written : { ...written, text: shows(written.text) }
    this.table.add(kind, await new Client({ url }).request(`/v1/pets${path}`, { headers }), expected)
  }
}

const asWritten = (documents: string) => documents
