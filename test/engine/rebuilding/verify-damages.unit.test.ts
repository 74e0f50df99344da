import { expect, it } from 'vitest'
import { startVerify, worldOfEveryKind } from './verifying.ts'

/**
 * A damage, `[a set]` standing for its table; and every difference that is to be found, as
 * `<where> <id>: <part of what is expected> -> <part of what is found>`.
 */
const damages: [string, ...string[]][] = [
  [`UPDATE [seats] SET json = replace(json, 'seat 101', 'pest') WHERE id = 101`, 'seats 101: seat 101 -> pest'],
  [`UPDATE [seats] SET behind = '2' || behind WHERE id = 101`, 'seats 101: }\x001 15 -> }\x0021 15'],
  [`UPDATE [seats] SET behind = replace(behind, 'approved', 'placed')`, 'seats 1: "approved" -> "placed"'],
  [`UPDATE [bookings] SET behind = '2'`, 'bookings 1: }\x001 -> }\x002'],
  ['DELETE FROM [seats] WHERE id = 109', 'seats 109: seat 109 -> nothing', 'size seats: 13 of 13 -> 12 of 13'],
  [
    'UPDATE [seats] SET id = 99 WHERE id = 109', // as many as before
    ...['seats 99: nothing -> seat 109', 'seats 109: seat 109 -> nothing'],
  ],
  [`UPDATE [bookings] SET json = replace(json, 'appr', 'pl')`, 'bookings 1: "approved" -> "ploved"'],
  ['DELETE FROM [bookings]', 'bookings 1: "approved" -> nothing', 'size bookings: 1 of 1 -> 0 of 1'],
  [
    'INSERT INTO [seats:status:available] SELECT id, json, NULL FROM [seats] WHERE id = 1',
    ...['seats:status:available 1: nothing -> seat 1', 'size seats:status:available: 6 of 6 -> 7 of 6'],
  ],
  [
    `DELETE FROM collection WHERE name = 'bookings:status:approved'`,
    ...['bookings:status:approved 1: "approved" -> nothing', 'size bookings:status:approved: 1 of 1 -> nothing'],
  ],
  [`UPDATE collection SET size = size + 1 WHERE name = 'bookings'`, 'size bookings: 1 of 1 -> 1 of 2'],
  [`UPDATE text_set SET size = 5 WHERE name = 'keys'`, 'size keys: 1 of 1 -> 1 of 5'],
  [`UPDATE text SET text = '7' || text WHERE name = 'rows'`, 'rows 6: 1  -> 71 '],
  [`DELETE FROM text WHERE name = 'rows'`, 'rows 6: 1  -> nothing', 'size rows: 1 of 1 -> 0 of 1'],
  [`UPDATE text SET text = replace(text, '"2"', '"77"') WHERE name = 'keys'`, 'keys 0/key 1: "2" -> "77"'],
  [`DELETE FROM text WHERE name = 'keys'`, 'keys 0/key 1: "2" -> nothing', 'size keys: 1 of 1 -> 0 of 1'],
  [`UPDATE text SET id = '0/x' WHERE name = 'keys'`, 'keys 0/x: nothing -> "2"', 'keys 0/key 1: "2" -> nothing'],
  [`DELETE FROM text WHERE name = 'waiting'`, 'waiting 0/4: 7 -> nothing', 'size waiting: 1 of 1 -> 0 of 1'],
  [`UPDATE text SET text = replace(text, 'type', 'kind') WHERE name = 'parked'`, 'parked 4: 0 6 1 type -> 0 6 1 kind'],
  [`UPDATE text SET id = '5' WHERE name = 'parked'`, ...['parked 5: nothing -> 0 6 1', 'parked 4: 0 6 1 -> nothing']],
  [`UPDATE checkpoint SET checkpoint = replace(checkpoint, ',17,', ',16,')`, 'checkpoint of partition 0: ,17, -> ,16,'],
]

it.each(damages)('verify finds what came of %s, and nothing else', async (damage, ...expected) => {
  const world = await worldOfEveryKind()
  world.sql(damage.replaceAll(/\[(.*?)\]/g, (_, set: string) => world.tableOf(set)))
  const { differences } = await startVerify(world)
  expect(differences).toHaveLength(expected.length)
  for (const line of expected) {
    const [, place, ...texts] = /^(.*): (.*) -> (.*)$/s.exec(line) ?? []
    const found = differences.find(({ where, id }) => `${where} ${id}` === place)
    expect([found?.expected ?? 'nothing', found?.found ?? 'nothing']).toEqual(
      texts.map((text) => expect.stringContaining(text)),
    )
  }
})
