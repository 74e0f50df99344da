import { requestIdentity } from '../../../src/command-handling/request-identity.ts'
import type { NewPet } from '../../../src/domain/pet.ts'
import type { Position } from '../../../src/event-log/event-log.ts'
import type { Wait } from '../../../src/read-models/applied-progress.ts'
import type { RangeAnswer } from '../../../src/read-models/read-models.ts'
import type { ApiProcess, Creation } from './api-process.ts'

const newPets: Readonly<Record<'Rex' | 'Mia', NewPet>> = {
  Rex: { name: 'Rex', categoryId: 7n, status: 'available' },
  Mia: { name: 'Mia', categoryId: 7n, status: 'sold' },
}

export interface CreateOptions {
  readonly pet: keyof typeof newPets
  readonly key: string | undefined
  readonly waitMs: number
  /** How long after the append the client goes, if it does not stay for the answer. */
  readonly goesAfterMs?: number | undefined
}

export interface ReadOptions {
  readonly index: string | undefined
  /** Whether the request has a token for every pet that any client knows of. */
  readonly withToken: boolean
  readonly waitMs: number
}

interface Request {
  /** The process asked: one that took another's place is another one. */
  readonly api: ApiProcess
  /** Where question and answer stand in the order of all that clients saw; unanswered while there is none. */
  readonly asked: number
  answered?: number
  failure?: unknown
}

export interface Create extends Request {
  /** Names the request, in the log too. */
  readonly traceparent: string
  readonly options: CreateOptions
  /** The key as events carry it. */
  readonly key: string | undefined
  readonly pet: NewPet
  answer?: Creation
}

export interface Read extends Request {
  readonly options: ReadOptions
  /** What the token of the request stands for. */
  readonly atLeast: readonly Position[]
  answer?: RangeAnswer
}

/** Send requests without waiting for one another, and remember what they were answered. */
export class Clients {
  readonly creates: Create[] = []
  readonly reads: Read[] = []
  #moments = 0

  create(api: ApiProcess, options: CreateOptions): void {
    const pet = newPets[options.pet]
    const traceparent = `request ${this.creates.length}`
    const identity = options.key === undefined ? undefined : requestIdentity('api-key', options.key, pet)
    const create: Create = { ...this.#ask(api), traceparent, options, key: identity?.key, pet }
    this.creates.push(create)
    void this.#remember(create, api.create(pet, { traceparent, identity }, waitOf(options)))
  }

  read(api: ApiProcess, options: ReadOptions): void {
    const { index, withToken, waitMs } = options
    const known = this.creates.flatMap(({ answer }) => (answer === undefined ? [] : [answer.position]))
    const read: Read = { ...this.#ask(api), options, atLeast: withToken ? known : [] }
    this.reads.push(read)
    const atLeast = withToken ? { positions: known, wait: { timeoutMs: waitMs } } : undefined
    void this.#remember(read, api.reads.range({ index, from: 1, limit: 1000 }, atLeast))
  }

  /** Of those who asked a process that is no more, none will be. */
  allAnswered(living: readonly ApiProcess[]): boolean {
    const requests: Request[] = [...this.creates, ...this.reads]
    return requests.every(({ api, answered }) => answered !== undefined || !living.includes(api))
  }

  #ask(api: ApiProcess): Request {
    return { api, asked: this.#moments++ }
  }

  async #remember<T>(request: Request & { answer?: T }, answer: Promise<T>): Promise<void> {
    try {
      request.answer = await answer
    } catch (error) {
      request.failure = error
    }
    request.answered = this.#moments++
  }
}

function waitOf({ waitMs, goesAfterMs }: CreateOptions): Wait {
  if (goesAfterMs === undefined) return { timeoutMs: waitMs }
  const goesAt = performance.now() + goesAfterMs
  return { timeoutMs: waitMs, isAbandoned: () => performance.now() >= goesAt }
}
