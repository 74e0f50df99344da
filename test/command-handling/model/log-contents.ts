import { type NewPet, type PetId, type PetStatus, petDocument } from '../../../src/domain/pet.ts'
import type { EventLog, LogRecord, Position } from '../../../src/event-log/event-log.ts'
import { partitionsOf } from '../../event-log/contract/fixture.ts'
import { RecordingSubscriber } from '../../event-log/recording-subscriber.ts'
import { until } from './virtual-time.ts'

/** A PetCreated event as anybody may read it who knows JSON. */
export interface StoredPet {
  readonly position: Position
  /** Of the request that it came from. */
  readonly traceparent: string
  readonly key: string | undefined
  readonly fingerprint: string | undefined
  readonly id: PetId
  readonly status: PetStatus
  readonly document: string
}

/** Everything in the log, partition by partition, in log order. */
export async function storedIn(log: EventLog): Promise<StoredPet[]> {
  const ends = await log.ends()
  const subscriber = await RecordingSubscriber.on(log)
  const isComplete = () => ends.every((end, partition) => subscriber.records(partition).length === end)
  await until(isComplete, 5000)
  return partitionsOf(log).flatMap((partition) =>
    subscriber.records(partition).map((record) => storedPet(partition, record)),
  )
}

function storedPet(partition: number, { offset, value }: LogRecord): StoredPet {
  const { traceparent, idempotencykey, requestfingerprint, data } = JSON.parse(String(value))
  return {
    position: { partition, offset },
    traceparent,
    key: idempotencykey,
    fingerprint: requestfingerprint,
    id: data.id,
    status: data.status,
    document: JSON.stringify(data),
  }
}

/** The read models, by the rule: of the events under one key the first counts. In ascending order of id. */
export function petsOf(stored: readonly StoredPet[]): StoredPet[] {
  const keys = new Set<string>()
  const pets = stored.filter(({ key }) => {
    if (key === undefined) return true
    const isFirst = !keys.has(key)
    keys.add(key)
    return isFirst
  })
  return pets.sort((a, b) => a.id - b.id)
}

/** As they stand in an answer. */
export function documentsOf(pets: readonly StoredPet[]): string {
  return pets.map(({ document }) => document).join(',')
}

export function isWhatWasAskedFor({ id, document }: StoredPet, pet: NewPet): boolean {
  return document === petDocument({ id, ...pet })
}
