import { describe, expect, it } from 'vitest'
import { type CreateRequest, createPetCommand } from '../../src/command-handling/create-pet.ts'
import { PetIds } from '../../src/command-handling/pet-ids.ts'
import { eventIdOf, requestIdentity } from '../../src/command-handling/request-identity.ts'
import { type NewPet, petDocument } from '../../src/domain/pet.ts'
import type { NewRecord } from '../../src/event-log/event-log.ts'
import { ServiceError } from '../../src/lib/errors.ts'

const rex: NewPet = { name: 'Rex', categoryId: 7n, status: 'sold' }
const identity = requestIdentity('api-key-id', 'once', rex)
const partitions = 3
const partitionOfKey = 2
const time = new Date('2026-11-20T12:00:00.000Z')

/** Ids go to the partition of their remainder, the key to one of its own. */
const log = {
  partitions,
  partitionFor: (key: string) => (key === identity.key ? partitionOfKey : Number(key) % partitions),
  claimBlock: async () => 1,
}

/** Takes every record; what it is gathering changes when the test says so. */
class RecordingAppender {
  gathering = 0
  failure: ServiceError | undefined
  readonly appended: { partition: number; record: NewRecord }[] = []

  async append(partition: number, record: NewRecord) {
    if (this.failure) throw this.failure
    this.appended.push({ partition, record })
    return { partition, offset: this.appended.length - 1 }
  }
}

function open(ids: PetIds = new PetIds(log)) {
  const appender = new RecordingAppender()
  const createPet = createPetCommand({ log, appender, ids, now: () => time })
  return { appender, create: (request: CreateRequest = {}) => createPet(rex, request) }
}

describe('creating a pet', () => {
  it('appends its event and tells the pet and where the event stands', async () => {
    const { appender, create } = open()
    const { id, document, position } = await create({ traceparent: '00-trace-span-01' })
    expect(document).toBe(petDocument({ id, ...rex }))
    expect(position).toEqual({ partition: 0, offset: 0 })
    expect(appender.appended.map(({ record }) => [record.key, JSON.parse(record.value)])).toEqual([
      [
        String(id),
        expect.objectContaining({ subject: String(id), time: time.toJSON(), traceparent: '00-trace-span-01' }),
      ],
    ])
  })

  it('goes with the batch that is being gathered, under an id of its partition', async () => {
    const { appender, create } = open()
    for (const gathering of [2, 0, 1]) {
      appender.gathering = gathering
      const { id, position } = await create()
      expect([position.partition, log.partitionFor(String(id))]).toEqual([gathering, gathering])
    }
  })

  it('goes with the batch that is being gathered once there are ids again', async () => {
    const claim = Promise.withResolvers<number>()
    const { appender, create } = open(new PetIds({ ...log, claimBlock: () => claim.promise }))
    const creating = create()
    appender.gathering = 1
    claim.resolve(1)
    const { id, position } = await creating
    expect([position.partition, log.partitionFor(String(id))]).toEqual([1, 1])
  })

  it('with an identity goes to the partition of its key, before and after a refill, under an id of that partition', async () => {
    const { appender, create } = open()
    for (const gathering of [0, 1]) {
      appender.gathering = gathering
      const { id, position } = await create({ identity })
      expect([position.partition, log.partitionFor(String(id))]).toEqual([partitionOfKey, partitionOfKey])
    }
  })

  it('with an identity gives every event of it one id, without one each event its own', async () => {
    const { appender, create } = open()
    for (const request of [{ identity }, { identity }, {}, {}]) await create(request)
    const [first, second, third, fourth] = appender.appended.map(({ record }) => JSON.parse(record.value).id)
    expect([first, second]).toEqual([eventIdOf(identity), eventIdOf(identity)])
    expect(new Set([first, third, fourth]).size).toBe(3)
  })

  it('ends as the append does', async () => {
    const { appender, create } = open()
    appender.failure = new ServiceError('append_outcome_unknown', 'lost')
    await expect(create()).rejects.toBe(appender.failure)
  })

  it('appends nothing when there are no ids to be had', async () => {
    const away = new ServiceError('event_log_unavailable', 'away')
    const { appender, create } = open(new PetIds({ ...log, claimBlock: () => Promise.reject(away) }))
    await expect(create()).rejects.toBe(away)
    expect(appender.appended).toEqual([])
  })
})
