import { randomUUIDv7 } from 'node:crypto'
import { pino } from 'pino'
import { readConfig } from '../src/engine/app/config.ts'
import type { EventLog, NewRecord } from '../src/engine/log/event-log.ts'
import type { OrderId } from '../src/store/order.ts'
import { type PetId, petStatuses } from '../src/store/pet.ts'
import { encodeEvent, petstore } from '../test/store/petstore.ts'
import type { Environment } from './systems/service.ts'
import { type LogKind, openLog } from './systems/storage.ts'

const recordsPerAppend = 1000 // the maximum of an append

export interface Filling {
  readonly pets: number
  /** The id of the first pet; 1 by default. */
  readonly from?: number
  /** Whether all pets are `available`. */
  readonly available?: boolean
  /** Whether each pet is also ordered, under an order id equal to its own. All pets are then `available` at first. */
  readonly ordered?: boolean
}

/** Writes the events of pets to the log of `environment`, in batches and without the API. */
export async function fillLog(
  kind: LogKind,
  environment: Environment,
  { pets, from = 1, ordered = false, available = ordered }: Filling,
): Promise<void> {
  const log = await openLog(kind, readConfig(petstore, environment), pino({ level: 'silent' }))
  try {
    await appendAll(log, records())
  } finally {
    await log.close()
  }

  function* records(): Generator<NewRecord> {
    for (let id = from; id < from + pets; id++) yield created(id, available)
    for (let id = from; ordered && id < from + pets; id++) yield placed(id)
  }
}

/** Appends each to its partition, many at a time. */
export async function appendAll(log: EventLog, all: Iterable<NewRecord>): Promise<void> {
  const waiting = new Map<number, NewRecord[]>()
  for (const record of all) {
    const partition = log.partitionFor(record.key)
    const records = waiting.get(partition) ?? []
    waiting.set(partition, records)
    if (records.push(record) === recordsPerAppend) await log.append(partition, records.splice(0))
  }
  for (const [partition, records] of waiting) if (records.length > 0) await log.append(partition, records)
}

/** The reference pet has a name of 12 characters. A tenth of all is in each category. */
function created(id: number, isAvailable: boolean): NewRecord {
  const status = isAvailable ? 'available' : (petStatuses[id % petStatuses.length] ?? 'available')
  const name = `Rex ${String(id).padStart(8, '0')}`
  const pet = { id: id as PetId, name, categoryId: id % 10, status }
  return encodeEvent({ type: 'PetCreated', pet }, context(1))
}

function placed(id: number): NewRecord {
  return encodeEvent({ type: 'OrderPlaced', orderId: id as OrderId, petId: id as PetId }, context(2))
}

function context(version: number) {
  return { eventId: randomUUIDv7(), version, time: new Date().toISOString() }
}
