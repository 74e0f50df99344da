import { onTestFinished } from 'vitest'
import type { PetEvent } from '../../src/domain/pet-created.ts'
import type { LogRecord } from '../../src/event-log/event-log.ts'
import { type VerifyOptions, verify } from '../../src/projector/verify.ts'
import { openSqliteReadModels } from '../../src/read-models/sqlite/sqlite-read-models.ts'
import { recordOf } from './log-model.ts'
import { foreignRecord, petCreated, record } from './records.ts'
import { countedPets as definition, logger, openWorld, somePets, untilCaughtUp } from './world.ts'

type World = ReturnType<typeof openWorld>

/** Verifies the store of a world against its log, with a scratch read model of its own. */
export function startVerify({ log, store }: Pick<World, 'log' | 'store'>, over: Partial<VerifyOptions<PetEvent>> = {}) {
  const scratch = openSqliteReadModels({ file: ':memory:', version: 'scratch' })
  onTestFinished(() => scratch.close())
  return verify({ log, store, scratch, definition, group: 'verify', logger, ...over })
}

/** Of every kind: applied, keyed, repeated, parked, parked behind, skipped, discarded. Ids begin at `id`. */
export function everyKind(id: number, offset: number): LogRecord[] {
  return [
    petCreated(0, { id }),
    petCreated(1, { id: id + 1, status: 'sold' }, `keyed ${id}`, { key: `key ${id}`, fingerprint: 'f' }),
    petCreated(2, { id: id + 2 }, `keyed ${id}`, { key: `key ${id}`, fingerprint: 'f' }),
    petCreated(3, { id }),
    petCreated(4, { id }, `another ${id}`),
    foreignRecord(5, { type: 'petstore.PetCreated.v9', subject: `${id + 3}` }),
    petCreated(6, { id: id + 3 }),
    record(7, 'garbage'),
    foreignRecord(8, { type: 'petstore.PetCreated.v9', subject: `${id + 4}` }),
    petCreated(9, { id: id + 4 }),
    recordOf({ kind: 'discard', subject: `${id + 4}`, target: offset + 8 }),
  ]
}

/** With every kind of event applied, and nothing running. */
export async function worldOfEveryKind(): Promise<World> {
  const world = openWorld()
  await world.append(everyKind(1, 0))
  await world.append(somePets(100, 10))
  await world.start({ definition })
  await untilCaughtUp(world)
  await world.stop()
  return world
}
