import type { CreatePet } from '../../src/command-handling/create-pet.ts'
import type { CreatePetOnce } from '../../src/command-handling/create-pet-once.ts'
import type { RequestIdentity } from '../../src/command-handling/request-identity.ts'
import { type NewPet, type Pet, type PetId, petDocument } from '../../src/domain/pet.ts'
import { PetReads, type Reads, statusIndex } from '../../src/domain/read-pets.ts'
import type { Position } from '../../src/event-log/event-log.ts'
import { type AppServices, buildApp } from '../../src/http/app.ts'
import type { Wait } from '../../src/read-models/applied-progress.ts'

export const key = 'test-key'
/** Of the log that the tokens of `FakeServices` belong to. */
export const tokenScope = { epoch: 'epoch-1', partitions: 6 }
export const authorization = `Bearer ${key}`

/** The services of an API process with the pets in an array; each part can be replaced by a test. */
export class FakeServices implements AppServices {
  readonly stored: Pet[] = []
  /** What createPet was given beside the pet, and the waits asked for. */
  readonly traceparents: (string | undefined)[] = []
  readonly waits: { position: Position; timeoutMs: number }[] = []
  readonly identities: RequestIdentity[] = []
  /** What reads were asked to have in their answers. */
  readonly atLeast: { positions: readonly Position[]; timeoutMs: number }[] = []
  readonly keys = new Map([[key, 'key-1']])
  /** Whether every event comes to be parked. */
  parks = false
  isDraining = false
  isLive = true
  isReady = true
  createPet: CreatePet = async (newPet, { traceparent }) => {
    this.traceparents.push(traceparent)
    const pet = this.add(newPet)
    return { id: pet.id, document: petDocument(pet), position: { partition: 0, offset: this.stored.length - 1 } }
  }
  createPetOnce: CreatePetOnce = async (newPet, request) => {
    this.identities.push(request.identity)
    return { ...(await this.createPet(newPet, request)), replayed: false }
  }
  reads: Reads = {
    range: async ({ index, from, to = Number.MAX_SAFE_INTEGER, limit }) => {
      const found = this.stored.filter(
        ({ id, status }) => id >= from && id <= to && (index === undefined || index === statusIndex(status)),
      )
      const shown = found.slice(0, limit)
      const last = found.length > limit ? shown.at(-1)?.id : undefined
      return { documents: shown.map(petDocument).join(','), count: shown.length, last }
    },
  }

  readonly api = {
    log: tokenScope,
    createPetOnce: ((newPet, request) => this.createPetOnce(newPet, request)) satisfies CreatePetOnce as CreatePetOnce,
    createPet: ((newPet, request) => this.createPet(newPet, request)) satisfies CreatePet as CreatePet,
    pets: new PetReads({
      range: (query, atLeast) => {
        if (atLeast) this.atLeast.push({ positions: atLeast.positions, timeoutMs: atLeast.wait.timeoutMs })
        return this.reads.range(query, atLeast)
      },
    }),
    whenApplied: async (position: Position, { timeoutMs }: Wait) => {
      this.waits.push({ position, timeoutMs })
      return true
    },
    isParked: () => this.parks,
    keyId: (candidate: string) => this.keys.get(candidate),
  }
  readonly health = {
    live: () => ({ live: this.isLive, checks: { projector: { status: this.isLive ? 'ok' : 'stalled' } } }),
    ready: async () => ({ ready: this.isReady, checks: { eventLog: { status: this.isReady ? 'ok' : 'down' } } }),
  }
  readonly metrics = {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    text: async () => 'petstore_parked_events 3\n',
  }
  readonly draining = () => this.isDraining

  add(newPet: NewPet, id = (this.stored.at(-1)?.id ?? 0) + 1): Pet {
    const pet: Pet = { id: id as PetId, ...newPet }
    this.stored.push(pet)
    return pet
  }
}

export function openApp(services: AppServices = new FakeServices()) {
  return buildApp(services, { logger: false })
}
