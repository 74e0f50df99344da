import { onTestFinished } from 'vitest'
import { type VerifyOptions, verify } from '../../../src/engine/projector/verify.ts'
import { openSqliteReadModels } from '../../../src/engine/read-models/sqlite/sqlite-read-models.ts'
import { petstore } from '../../store/petstore.ts'
import { logger } from './projecting.ts'
import { type AnyRecord, discard, keyed, newerEvent, orderEvent, petCreated, record } from './records.ts'
import { openWorld, somePets, untilCaughtUp, type World } from './world.ts'

/** Verifies the store of a world against its log, with a scratch read model of its own. */
export function startVerify({ log, store }: Pick<World, 'log' | 'store'>, over: Partial<VerifyOptions> = {}) {
  const scratch = openSqliteReadModels({ file: ':memory:', version: 'scratch', home: 'pets' })
  onTestFinished(() => scratch.close())
  return verify({ log, store, scratch, definition: petstore, logger, ...over })
}

/** Records of every kind: applied, duplicate, superseded, parked, behind it, skipped, discarded, taken up. Ids begin at `id`. */
export function everyKind(id: number, offset: number): AnyRecord[] {
  const key = keyed(`key ${id}`)
  const stream = (at: number) => String(id + at)
  return [
    ...[petCreated({ id }), petCreated({ id: id + 1, status: 'sold' }, key), petCreated({ id: id + 2 }, key)],
    ...[petCreated({ id }), orderEvent('OrderPlaced', id, id, 2), orderEvent('OrderApproved', id, id, 3)],
    ...[newerEvent(stream(3), 1), petCreated({ id: id + 3 }, { version: 2 }), record('garbage')],
    ...[newerEvent(stream(4), 1), petCreated({ id: id + 4 }, { version: 2 }), discard(stream(4), offset + 9)],
    ...[newerEvent(stream(5), 1), discard(stream(5), offset + 12)],
  ]
}

/** With every kind of event applied, and nothing running. */
export async function worldOfEveryKind(): Promise<World> {
  const world = openWorld()
  await world.append(everyKind(1, 0))
  await world.append(somePets(100, 10))
  await world.start()
  await untilCaughtUp(world)
  await world.stop()
  return world
}
