import { expect, it } from 'vitest'
import { startVerify, worldOfEveryKind } from './verifying.ts'

/**
 * A damage, `[a set]` standing for its table; and every difference that is to be found, as
 * `<where> <id>: <part of what is expected> -> <part of what is found>`.
 */
const damages: [string, ...string[]][] = [
  [`UPDATE [pets] SET json = replace(json, 'pet 101', 'pest') WHERE id = 101`, 'pets 101: pet 101 -> pest'],
  ['UPDATE [pets] SET version = 3 WHERE id = 101', 'pets 101: }\x001\0 -> }\x003\0'],
  [`UPDATE [pets] SET row = replace(row, '3 0,4,5 ', '2 0,4 ')`, 'pets 1: 3 0,4,5 1 approved -> 2 0,4 1 approved'],
  ['DELETE FROM [pets] WHERE id = 109', 'pets 109: pet 109 -> nothing', 'size pets: 13 of 13 -> 12 of 13'],
  [
    'UPDATE [pets] SET id = 99 WHERE id = 109', // as many as before
    ...['pets 99: nothing -> pet 109', 'pets 109: pet 109 -> nothing'],
  ],
  [`UPDATE [orders] SET json = replace(json, 'appr', 'pl')`, 'orders 1: "approved" -> "ploved"'],
  ['DELETE FROM [orders]', 'orders 1: "approved" -> nothing', 'size orders: 1 of 1 -> 0 of 1'],
  [
    'INSERT INTO [pets:status:available] SELECT id, json, NULL, NULL FROM [pets] WHERE id = 1',
    ...['pets:status:available 1: nothing -> pet 1', 'size pets:status:available: 6 of 6 -> 7 of 6'],
  ],
  [
    `DELETE FROM collection WHERE name = 'orders:status:approved'`,
    ...['orders:status:approved 1: "approved" -> nothing', 'size orders:status:approved: 1 of 1 -> nothing'],
  ],
  [`UPDATE collection SET size = size + 1 WHERE name = 'orders'`, 'size orders: 1 of 1 -> 1 of 2'],
  [`UPDATE other_set SET size = 5 WHERE name = 'keys'`, 'size keys: 1 of 1 -> 1 of 5'],
  [`UPDATE stream_row SET row = '7' || row`, 'rows 6: 1  -> 71 '],
  ['DELETE FROM stream_row', 'rows 6: 1  -> nothing', 'size rows: 1 of 1 -> 0 of 1'],
  [`UPDATE idempotency_key SET record = replace(record, '"2"', '"77"')`, 'keys 0/key 1: "2" -> "77"'],
  ['DELETE FROM idempotency_key', 'keys 0/key 1: "2" -> nothing', 'size keys: 1 of 1 -> 0 of 1'],
  [`UPDATE idempotency_key SET key = 'x'`, 'keys 0/x: nothing -> "2"', 'keys 0/key 1: "2" -> nothing'],
  [
    'DELETE FROM parked WHERE record_offset = 7',
    ...['parked 0/7: an earlier event -> nothing', 'size parked: 2 of 2 -> 1 of 2'],
  ],
  [`UPDATE parked SET reason = 'none' WHERE record_offset = 7`, 'parked 0/7: an earlier event -> none'],
  [
    'UPDATE parked SET record_offset = 8 WHERE record_offset = 7',
    ...['parked 0/8: nothing -> an earlier event', 'parked 0/7: an earlier event -> nothing'],
  ],
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
