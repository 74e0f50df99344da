import { randomUUIDv7 } from 'node:crypto'
import { pino } from 'pino'
import { readConfig } from '../src/app/config.ts'
import { type PetId, petStatuses } from '../src/domain/pet.ts'
import { petCreatedRecord } from '../src/domain/pet-created.ts'
import type { NewRecord } from '../src/event-log/event-log.ts'
import type { Environment } from './systems/service.ts'
import { type LogKind, openLog } from './systems/storage.ts'

const recordsPerAppend = 1000 // the most that a log takes

/** Puts the events of pets 1 to `count` into the empty log of `environment`, in batches and without the API. */
export async function fillLog(kind: LogKind, environment: Environment, count: number): Promise<void> {
  const log = await openLog(kind, readConfig(environment), pino({ level: 'silent' }))
  try {
    const waiting = new Map<number, NewRecord[]>()
    for (let id = 1; id <= count; id++) {
      const record = recordOf(id)
      const partition = log.partitionFor(record.key)
      const records = waiting.get(partition) ?? []
      waiting.set(partition, records)
      if (records.push(record) === recordsPerAppend) await log.append(partition, records.splice(0))
    }
    for (const [partition, records] of waiting) if (records.length > 0) await log.append(partition, records)
  } finally {
    await log.close()
  }
}

/** Of the reference pet, which has a name of 12 characters. */
function recordOf(id: number): NewRecord {
  const status = petStatuses[id % petStatuses.length] ?? 'available'
  const name = `Rex ${String(id).padStart(8, '0')}`
  const pet = { id: id as PetId, name, categoryId: id % 100, status }
  return petCreatedRecord(pet, { eventId: randomUUIDv7(), time: new Date() })
}
