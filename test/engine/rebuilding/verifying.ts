import { onTestFinished } from 'vitest'
import { openSqliteReadModels } from '../../../src/engine/read-models/sqlite/sqlite-read-models.ts'
import { type VerifyOptions, verify } from '../../../src/engine/rebuilding/verify.ts'
import { logger } from '../projector/projecting.ts'
import { type AnyRecord, bookingEvent, discard, keyed, newerEvent, record, seatAdded } from '../projector/records.ts'
import { openWorld, someSeats, untilCaughtUp, type World } from '../projector/world.ts'
import { theatre } from '../theatre/theatre.ts'

/** Verifies the store of a world against its log, with a scratch read model of its own. */
export function startVerify({ log, store }: Pick<World, 'log' | 'store'>, over: Partial<VerifyOptions> = {}) {
  const scratch = openSqliteReadModels({ file: ':memory:', version: 'scratch', names: theatre.names })
  onTestFinished(() => scratch.close())
  return verify({ log, store, scratch, definition: theatre, logger, ...over })
}

/** Records of every kind: applied, duplicate, superseded, parked, behind it, skipped, discarded, taken up. Ids begin at `id`. */
export function everyKind(id: number, offset: number): AnyRecord[] {
  const key = keyed(`key ${id}`)
  const stream = (at: number) => String(id + at)
  return [
    ...[seatAdded({ id }), seatAdded({ id: id + 1, status: 'sold' }, key), seatAdded({ id: id + 2 }, key)],
    ...[seatAdded({ id }), bookingEvent('BookingPlaced', id, id, 2), bookingEvent('BookingApproved', id, id, 3)],
    ...[newerEvent(stream(3), 1), seatAdded({ id: id + 3 }, { version: 2 }), record('garbage')],
    ...[newerEvent(stream(4), 1), seatAdded({ id: id + 4 }, { version: 2 }), discard(stream(4), offset + 9)],
    ...[newerEvent(stream(5), 1), discard(stream(5), offset + 12)],
  ]
}

/** With every kind of event applied, and nothing running. */
export async function worldOfEveryKind(): Promise<World> {
  const world = openWorld()
  await world.append(everyKind(1, 0))
  await world.append(someSeats(100, 10))
  await world.start()
  await untilCaughtUp(world)
  await world.stop()
  return world
}
