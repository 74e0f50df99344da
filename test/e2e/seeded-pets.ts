import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { appendAll } from '../../bench/full-log.ts'
import { readConfig } from '../../src/app/config.ts'
import { openStorage } from '../../src/app/storage.ts'
import { encodeEvent } from '../../src/domain/event-codec.ts'
import { type PetId, petDocument } from '../../src/domain/pet.ts'
import { statuses } from './client.ts'
import type { Environment } from './service.ts'

/** Above all that blocks will give, so that nobody is given one of these, and below 2^53. */
const firstId = 8_000_000_000_000_000

/** Pets that stand in the log without anybody having asked for them: the first `count` of a fixed sequence. */
export class SeededPets {
  readonly count: number

  constructor(count: number) {
    this.count = count
  }

  id(n: number): number {
    return firstId + n
  }

  /** As it stands in the read models, and in every answer. */
  document(n: number): string {
    return petDocument(this.#pet(n))
  }

  /** The page of `limit` pets from the nth on, of its status alone if asked for: its text. */
  page(n: number, limit: number, step: 1 | 3): string {
    const documents: string[] = []
    for (let i = n; i < this.count && documents.length < limit; i += step) documents.push(this.document(i))
    return `[${documents.join(',')}]`
  }

  /** Appends them all. */
  async append(environment: Environment): Promise<void> {
    const { log, close } = await openStorage(readConfig(environment), pino({ level: 'silent' }))
    const time = new Date().toISOString()
    const record = (_: unknown, n: number) =>
      encodeEvent({ type: 'PetCreated', pet: this.#pet(n) }, { eventId: randomUUID(), version: 1, time })
    await appendAll(log, Array.from({ length: this.count }, record))
    await close()
  }

  #pet(n: number) {
    return { id: this.id(n) as PetId, name: `seeded ${n}`, categoryId: BigInt(n % 50), status: this.status(n) }
  }

  status(n: number): (typeof statuses)[number] {
    return statuses[n % statuses.length] as (typeof statuses)[number]
  }
}
