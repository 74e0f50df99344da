import { type CreatePet, type CreateRequest, createPetCommand } from '../../../src/command-handling/create-pet.ts'
import {
  type CreatedOnce,
  type CreatePetOnce,
  createPetOnceCommand,
} from '../../../src/command-handling/create-pet-once.ts'
import { PetIds } from '../../../src/command-handling/pet-ids.ts'
import type { NewPet } from '../../../src/domain/pet.ts'
import { PetReads } from '../../../src/domain/read-pets.ts'
import { defaultLimits, GroupCommit } from '../../../src/event-log/group-commit.ts'
import { AppliedProgress, type Wait } from '../../../src/read-models/applied-progress.ts'
import { ConsistentReads } from '../../../src/read-models/consistent-reads.ts'
import { ProvenReads } from '../../../src/read-models/proven-reads.ts'
import type { Machine } from './machine.ts'

const appendTimeoutMs = 2000

export interface Creation extends CreatedOnce {
  /** Whether it was answered because the read models have the pet, not because the wait was over. */
  readonly readable: boolean
}

/** One process of the service without its HTTP, put together as `src/app/service.ts` does it. */
export class ApiProcess {
  readonly machine: Machine
  readonly reads: ConsistentReads
  readonly #proven: ProvenReads
  readonly #progress: AppliedProgress
  readonly #createPet: CreatePet
  readonly #createPetOnce: CreatePetOnce

  constructor(machine: Machine) {
    const { log, store } = machine
    const appender = new GroupCommit(log, { ...defaultLimits, timeoutMs: appendTimeoutMs })
    this.machine = machine
    this.#proven = new ProvenReads(store, log)
    this.#progress = new AppliedProgress(store)
    this.reads = new ConsistentReads(this.#proven, this.#progress)
    this.#createPet = createPetCommand({ log, appender, ids: new PetIds(log), now: () => new Date() })
    this.#createPetOnce = createPetOnceCommand({
      log,
      createPet: this.#createPet,
      decisions: {
        decision: this.#proven.decision.bind(this.#proven),
        whenApplied: this.#progress.whenApplied.bind(this.#progress),
        isParked: this.#progress.isParked.bind(this.#progress),
      },
      pets: new PetReads(this.reads),
      timeoutMs: appendTimeoutMs,
    })
  }

  /** Whether it answers reads. */
  get isUp(): boolean {
    return this.#proven.state.status === 'up'
  }

  /** What POST /v1/pets does; `wait` is what its Prefer says, and ends when the client goes. */
  async create(pet: NewPet, { traceparent, identity }: CreateRequest, wait: Wait): Promise<Creation> {
    if (identity !== undefined) {
      const { isAbandoned } = wait
      return { ...(await this.#createPetOnce(pet, { traceparent, identity, isAbandoned })), readable: true }
    }
    const created = await this.#createPet(pet, { traceparent })
    const readable = await this.#progress.whenApplied(created.position, wait)
    return { ...created, replayed: false, readable }
  }
}
