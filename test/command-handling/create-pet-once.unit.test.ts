import { describe, expect, it } from 'vitest'
import type { CreatedPet } from '../../src/command-handling/create-pet.ts'
import { type CreatePetOnceParts, createPetOnceCommand } from '../../src/command-handling/create-pet-once.ts'
import { requestIdentity } from '../../src/command-handling/request-identity.ts'
import { type NewPet, type Pet, type PetId, petDocument } from '../../src/domain/pet.ts'
import type { Position } from '../../src/event-log/event-log.ts'
import { type ErrorCode, ServiceError } from '../../src/lib/errors.ts'
import type { Wait } from '../../src/read-models/applied-progress.ts'
import type { KeyDecision } from '../../src/read-models/key-decision.ts'

const rex: NewPet = { name: 'Rex', categoryId: 7n, status: 'sold' }
const identity = requestIdentity('api-key-id', 'once', rex)
const otherFingerprint = requestIdentity('api-key-id', 'once', { ...rex, name: 'Mia' }).fingerprint

const ours: Pet = { id: 20 as PetId, ...rex }
const theirs: Pet = { id: 10 as PetId, ...rex }
const partitionOfKey = 2
const created: CreatedPet = {
  id: ours.id,
  document: petDocument(ours),
  position: { partition: partitionOfKey, offset: 5 },
}
const decisionFor = ({ id }: Pet, offset: number): KeyDecision => ({ ...identity, offset, subject: String(id) })
const decidedByOurs = decisionFor(ours, 5)
const decidedByTheirs = decisionFor(theirs, 3)
const replayOfTheirs = {
  id: theirs.id,
  document: petDocument(theirs),
  position: { partition: partitionOfKey, offset: 3 },
  replayed: true,
}

/** What is found under the key when it is asked for; an error is thrown. */
type Found = KeyDecision | ServiceError | undefined

interface Scene {
  readonly decisionBefore?: Found
  readonly decisionAfter?: Found
  readonly appliedInTime?: boolean
  readonly isParked?: boolean
  readonly append?: CreatedPet | ServiceError
  readonly readable?: readonly Pet[] | ServiceError
}

/** The command with everything around it played as the scene says, and a record of what it did. */
function open({
  decisionBefore,
  decisionAfter,
  appliedInTime = true,
  isParked = false,
  append = created,
  readable = [theirs],
}: Scene) {
  let appends = 0
  const waits: (Wait & { position: Position })[] = []
  const parts: CreatePetOnceParts = {
    log: { partitionFor: (key) => (key === identity.key ? partitionOfKey : 0) },
    createPet: async (newPet, request) => {
      expect(newPet).toEqual(rex)
      expect(request).toMatchObject({ identity })
      appends++
      return given(append)
    },
    decisions: {
      decision: async (key) => {
        expect(key).toBe(identity.key)
        return given(appends === 0 ? decisionBefore : decisionAfter)
      },
      whenApplied: async (position, wait) => {
        waits.push({ position, ...wait })
        return appliedInTime
      },
      isParked: (position) => isParked && position === created.position,
    },
    pets: {
      find: async (id) => {
        const pet = given(readable).find((each) => BigInt(each.id) === id)
        return pet && petDocument(pet)
      },
    },
    timeoutMs: 5000,
  }
  const create = (isAbandoned?: Wait['isAbandoned']) => createPetOnceCommand(parts)(rex, { identity, isAbandoned })
  return { create, waits, appends: () => appends }
}

function given<T>(value: T | ServiceError): T {
  if (value instanceof ServiceError) throw value
  return value
}

const failure = (code: ErrorCode) => new ServiceError(code, code)

describe('the first request under a key', () => {
  it('gets the pet that it created, once that is decided', async () => {
    const scene = open({ decisionAfter: decidedByOurs })
    expect(await scene.create()).toEqual({ ...created, replayed: false })
    expect(scene.waits.map(({ position }) => position)).toEqual([created.position])
  })

  it('waits for the decision no longer than until its time limit', async () => {
    const scene = open({ decisionAfter: decidedByOurs })
    await scene.create()
    const timeoutMs = scene.waits[0]?.timeoutMs ?? 0
    expect(timeoutMs).toBeLessThanOrEqual(5000)
    expect(timeoutMs).toBeGreaterThan(0)
  })

  it('ends that wait when its client goes', async () => {
    const scene = open({ decisionAfter: decidedByOurs })
    const isAbandoned = () => true
    await scene.create(isAbandoned)
    expect(scene.waits.map((wait) => wait.isAbandoned)).toEqual([isAbandoned])
  })

  it.each(['overloaded', 'event_log_unavailable', 'append_outcome_unknown'] as const)(
    'gets %s as the append ended with it',
    async (code) => {
      const append = failure(code)
      const scene = open({ append })
      await expect(scene.create()).rejects.toBe(append)
      expect(scene.waits).toEqual([])
    },
  )

  it.each(['read_model_unavailable', 'read_model_rebuilding'] as const)(
    'gets %s when it cannot be known whether it is the first, and appends nothing',
    async (code) => {
      const decisionBefore = failure(code)
      const scene = open({ decisionBefore })
      await expect(scene.create()).rejects.toBe(decisionBefore)
      expect(scene.appends()).toBe(0)
    },
  )
})

describe('a request under a key decided before', () => {
  it('gets the pet of the first one, and appends nothing', async () => {
    const scene = open({ decisionBefore: decidedByTheirs })
    expect(await scene.create()).toEqual(replayOfTheirs)
    expect(scene.appends()).toBe(0)
  })

  it('is refused when it asks for another pet, and appends nothing', async () => {
    const scene = open({ decisionBefore: { ...decidedByTheirs, fingerprint: otherFingerprint } })
    await expect(scene.create()).rejects.toMatchObject({ code: 'idempotency_key_reused' })
    expect(scene.appends()).toBe(0)
  })

  it('gets event_parked when its own event could not be applied', async () => {
    const scene = open({ decisionAfter: decidedByOurs, isParked: true })
    await expect(scene.create()).rejects.toMatchObject({ code: 'event_parked' })
  })

  it('gets event_parked when the pet of the first one could not be projected', async () => {
    const scene = open({ decisionBefore: decidedByTheirs, readable: [] })
    await expect(scene.create()).rejects.toMatchObject({ code: 'event_parked' })
  })

  it('gets event_parked when the pet under the id of the first one is that of another event', async () => {
    const scene = open({ decisionBefore: decidedByTheirs, readable: [{ ...theirs, name: 'Mia' }] })
    await expect(scene.create()).rejects.toMatchObject({ code: 'event_parked' })
  })

  it.each(['', 'rex', '1e400', '9223372036854775807'])(
    'gets event_parked when the subject of the first one, %j, is no pet id',
    async (subject) => {
      const scene = open({ decisionBefore: { ...decidedByTheirs, subject } })
      await expect(scene.create()).rejects.toMatchObject({ code: 'event_parked' })
    },
  )

  it('gets what reading the pet throws', async () => {
    const readable = failure('read_model_unavailable')
    const scene = open({ decisionBefore: decidedByTheirs, readable })
    await expect(scene.create()).rejects.toBe(readable)
    expect(scene.appends()).toBe(0)
  })
})

describe('a request under a key that another one decided while it was appended', () => {
  it('gets the pet of the other one', async () => {
    const scene = open({ decisionAfter: decidedByTheirs })
    expect(await scene.create()).toEqual(replayOfTheirs)
    expect(scene.appends()).toBe(1)
  })

  it('is refused when the other one asked for another pet', async () => {
    const scene = open({ decisionAfter: { ...decidedByTheirs, fingerprint: otherFingerprint } })
    await expect(scene.create()).rejects.toMatchObject({ code: 'idempotency_key_reused' })
  })

  it('gets event_parked when the pet of the other one could not be projected', async () => {
    const scene = open({ decisionAfter: decidedByTheirs, readable: [] })
    await expect(scene.create()).rejects.toMatchObject({ code: 'event_parked' })
  })
})

describe('a request that is stored, but not known to be the first under its key', () => {
  const unknown = { code: 'append_outcome_unknown' }

  it('has an unknown outcome when the event is not applied in time', async () => {
    await expect(open({ appliedInTime: false, decisionAfter: decidedByOurs }).create()).rejects.toMatchObject(unknown)
  })

  it('has an unknown outcome when the read model has applied the event, but decided nothing', async () => {
    await expect(open({ decisionAfter: undefined }).create()).rejects.toMatchObject(unknown)
  })

  it.each(['read_model_unavailable', 'read_model_rebuilding'] as const)(
    'has an unknown outcome, with the cause, when asking for the decision ends with %s',
    async (code) => {
      const cause = failure(code)
      await expect(open({ decisionAfter: cause }).create()).rejects.toMatchObject({ ...unknown, cause })
    },
  )

  it.each(['read_model_unavailable', 'read_model_rebuilding'] as const)(
    'has an unknown outcome, with the cause, when reading the pet of the one that was first ends with %s',
    async (code) => {
      const cause = failure(code)
      const scene = open({ decisionAfter: decidedByTheirs, readable: cause })
      await expect(scene.create()).rejects.toMatchObject({ ...unknown, cause })
    },
  )
})
