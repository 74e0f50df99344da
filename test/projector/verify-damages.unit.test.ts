import { expect, it } from 'vitest'
import { startVerify, worldOfEveryKind } from './verifying.ts'

/**
 * What is damaged; how, `[a set]` standing for its table; and every difference that is to be found, as
 * `<where> <id>: <part of what is expected> -> <part of what is found>`.
 */
const damages: [string, string, ...string[]][] = [
  [
    'a pet changed',
    `UPDATE [pets] SET json = replace(json, 'pet 101', 'pest') WHERE id = 101`,
    'pets 101: pet 101 -> pest',
  ],
  ['the version of a pet changed', 'UPDATE [pets] SET version = 3 WHERE id = 101', 'pets 101: }\x001\0 -> }\x003\0'],
  [
    'the row behind a pet changed',
    `UPDATE [pets] SET row = replace(row, '3 0,4,5 ', '2 0,4 ') WHERE id = 1`,
    'pets 1: 3 0,4,5 1 approved -> 2 0,4 1 approved',
  ],
  [
    'a pet deleted',
    'DELETE FROM [pets] WHERE id = 109',
    ...['pets 109: pet 109 -> nothing', 'size pets: 13 of 13 -> 12 of 13'],
  ],
  ['an order changed', `UPDATE [orders] SET json = replace(json, 'appr', 'pl')`, 'orders 1: "approved" -> "ploved"'],
  ['an order deleted', 'DELETE FROM [orders]', 'orders 1: "approved" -> nothing', 'size orders: 1 of 1 -> 0 of 1'],
  [
    'an index entry that was left behind',
    `INSERT INTO [pets:status:available] SELECT id, json, NULL, NULL FROM [pets] WHERE id = 1`,
    ...['pets:status:available 1: nothing -> pet 1', 'size pets:status:available: 6 of 6 -> 7 of 6'],
  ],
  [
    'a whole index deleted',
    `DELETE FROM collection WHERE name = 'orders:status:approved'`,
    ...['orders:status:approved 1: "approved" -> nothing', 'size orders:status:approved: 1 of 1 -> nothing'],
  ],
  [
    'a recorded size changed',
    `UPDATE collection SET size = size + 1 WHERE name = 'orders'; UPDATE other_set SET size = 5 WHERE name = 'keys'`,
    ...['size orders: 1 of 1 -> 1 of 2', 'size keys: 1 of 1 -> 1 of 5'],
  ],
  ['a row of a stream without a pet changed', `UPDATE stream_row SET row = '7' || row`, 'rows 6: 1  -> 71 '],
  [
    'a row of a stream without a pet deleted',
    'DELETE FROM stream_row',
    ...['rows 6: 1  -> nothing', 'size rows: 1 of 1 -> 0 of 1'],
  ],
  ['a key changed', `UPDATE idempotency_key SET record = replace(record, '"2"', '"77"')`, 'keys 0/key 1: "2" -> "77"'],
  ['a key deleted', 'DELETE FROM idempotency_key', 'keys 0/key 1: "2" -> nothing', 'size keys: 1 of 1 -> 0 of 1'],
  [
    'a key under another one',
    `UPDATE idempotency_key SET key = 'other'`,
    ...['keys 0/other: nothing -> "2"', 'keys 0/key 1: "2" -> nothing'],
  ],
  [
    'a parked event deleted',
    'DELETE FROM parked WHERE record_offset = 7',
    ...['parked 0/7: an earlier event -> nothing', 'size parked: 2 of 2 -> 1 of 2'],
  ],
  [
    'a parked event changed',
    `UPDATE parked SET reason = 'none' WHERE record_offset = 7`,
    'parked 0/7: an earlier event -> none',
  ],
  [
    'a parked event at another place',
    'UPDATE parked SET record_offset = 8 WHERE record_offset = 7',
    ...['parked 0/8: nothing -> an earlier event', 'parked 0/7: an earlier event -> nothing'],
  ],
  [
    'the counts of a checkpoint changed',
    `UPDATE checkpoint SET checkpoint = replace(checkpoint, ',17,', ',16,')`,
    'checkpoint of partition 0: ,17, -> ,16,',
  ],
]

it.each(damages)('verify finds %s, and nothing else', async (_, damage, ...expected) => {
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
