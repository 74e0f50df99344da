import { expect, it } from 'vitest'
import { openSqliteReadModels } from '../../../src/engine/read-models/sqlite/sqlite-read-models.ts'
import { verify } from '../../../src/engine/rebuilding/verify.ts'
import { whenDone } from '../../lib/when-done.ts'
import { everything, logger } from '../projector/projecting.ts'
import { newerEvent, seatAdded } from '../projector/records.ts'
import { openWorld, untilCaughtUp, type World } from '../projector/world.ts'
import { hallEvent, twoKinds } from '../two-kinds.ts'
import { startRebuild } from './rebuilding.ts'

/** Seats and halls with the same ids, of which one is closed, beside what a later release may know, and what none does. */
async function worldOfTwoKinds(): Promise<World> {
  const world = openWorld(twoKinds)
  await world.append([
    ...[1, 2, 3].flatMap((id) => [seatAdded({ id }), hallEvent('HallBuilt', id)]),
    hallEvent('HallClosed', 2, { version: 2 }),
    ...[newerEvent('halls/4', 1), newerEvent('other/1', 1), newerEvent('halls/007', 1), newerEvent('seats/1', 1)],
  ])
  await world.start()
  await untilCaughtUp(world)
  await world.stop()
  return world
}

async function differencesIn({ log, store }: World) {
  const scratch = openSqliteReadModels({ file: ':memory:', version: 'scratch', names: twoKinds.names })
  whenDone(() => scratch.close())
  const { differences } = await verify({ log, store, scratch, definition: twoKinds, logger })
  return differences.map(({ where, id }) => `${where} ${id}`)
}

it('verify finds nothing in two kinds of streams as they should be', async () => {
  expect(await differencesIn(await worldOfTwoKinds())).toEqual([])
})

it.each<[what: string, sql: (halls: string, seats: string) => string, found: readonly string[]]>([
  [
    'a hall that is another',
    (halls) => `UPDATE ${halls} SET json = replace(json, 'hall 3', '') WHERE id = 3`,
    ['halls 3'],
  ],
  ['a hall under another id', (halls) => `UPDATE ${halls} SET id = 9 WHERE id = 3`, ['halls 3', 'halls 9']],
  [
    'a hall and a seat that have taken the place of each other',
    (halls, seats) => `CREATE TEMP TABLE was AS SELECT json FROM ${halls} WHERE id = 1;
      UPDATE ${halls} SET json = (SELECT json FROM ${seats} WHERE id = 1) WHERE id = 1;
      UPDATE ${seats} SET json = (SELECT json FROM was) WHERE id = 1`,
    ['halls 1', 'seats 1'],
  ],
])('verify finds %s, and a rebuild mends it', async (_, sql, found) => {
  const world = await worldOfTwoKinds()
  const before = await everything(world.store)
  world.sql(sql(world.tableOf('halls'), world.tableOf('seats')))
  expect((await differencesIn(world)).sort()).toEqual(found)
  expect(await startRebuild(world, { definition: twoKinds })).toBe('activated')
  expect(await everything(world.store)).toEqual(before)
  expect(await differencesIn(world)).toEqual([])
})
