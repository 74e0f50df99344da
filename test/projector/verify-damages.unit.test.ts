import { expect, it } from 'vitest'
import { startVerify, worldOfEveryKind } from './verifying.ts'

/** What is damaged, how, and every difference that is to be found. */
const damages: [string, string, { where: string; id: string; expected?: unknown; found?: unknown }[]][] = [
  [
    'a document changed',
    `UPDATE collection_1 SET document = replace(document, 'pet 101', 'pest') WHERE id = 101`,
    [
      {
        where: 'document',
        id: '101',
        expected: expect.stringContaining('pet 101'),
        found: expect.stringContaining('pest'),
      },
    ],
  ],
  [
    'the tag of a document changed',
    `UPDATE collection_1 SET tag = 'abcdefghijkl' WHERE id = 101`,
    [
      {
        where: 'document',
        id: '101',
        expected: expect.stringMatching(/}/),
        found: expect.stringMatching(/}abcdefghijkl$/),
      },
    ],
  ],
  [
    'a document deleted',
    'DELETE FROM collection_1 WHERE id = 101',
    [
      { where: 'document', id: '101', expected: expect.stringContaining('pet 101'), found: undefined },
      { where: 'size', id: 'documents', expected: '13 of 13', found: '12 of 13' },
    ],
  ],
  [
    'the last document deleted',
    'DELETE FROM collection_1 WHERE id = 109',
    [
      { where: 'document', id: '109', expected: expect.stringContaining('pet 109'), found: undefined },
      { where: 'size', id: 'documents' },
    ],
  ],
  [
    'an index entry added',
    `INSERT INTO collection_2 SELECT 101, document, NULL FROM collection_1 WHERE id = 101`,
    [
      { where: 'index status:available', id: '101', expected: undefined, found: expect.stringContaining('pet 101') },
      { where: 'size', id: 'index status:available' },
    ],
  ],
  [
    'an index entry deleted',
    'DELETE FROM collection_3 WHERE id = 101',
    [
      { where: 'index status:sold', id: '101', expected: expect.stringContaining('pet 101'), found: undefined },
      { where: 'size', id: 'index status:sold' },
    ],
  ],
  [
    'a whole index deleted',
    `DELETE FROM collection WHERE name = 'index:status:sold'`,
    [
      ...[2, 101, 103, 105, 107, 109].map((id) => ({ where: 'index status:sold', id: `${id}`, found: undefined })),
      { where: 'size', id: 'index status:sold' },
    ],
  ],
  [
    'how many were added changed',
    `UPDATE collection SET added = added + 1 WHERE name = 'documents'`,
    [{ where: 'size', id: 'documents', expected: '13 of 13', found: '13 of 14' }],
  ],
  [
    'a decision changed',
    `UPDATE decision SET decision = '1 f 77'`,
    [{ where: 'decision', id: 'key 1', expected: '1 f 2', found: '1 f 77' }],
  ],
  [
    'a decision deleted',
    'DELETE FROM decision',
    [
      { where: 'decision', id: 'key 1', expected: '1 f 2', found: undefined },
      { where: 'size', id: 'decisions', expected: '1', found: '0' },
    ],
  ],
  [
    'a decision added',
    `INSERT INTO decision SELECT generation, 'other', decision FROM decision`,
    [
      { where: 'decision', id: 'other', expected: undefined, found: '1 f 2' },
      { where: 'size', id: 'decisions', expected: '1', found: '2' },
    ],
  ],
  [
    'a decision under another key',
    `UPDATE decision SET key = 'other'`,
    [
      { where: 'decision', id: 'other', expected: undefined, found: '1 f 2' },
      { where: 'decision', id: 'key 1', expected: '1 f 2', found: undefined },
    ],
  ],
  [
    'a counter changed',
    `UPDATE counter SET count = count + 1 WHERE name = 'pets:status:sold'`,
    [{ where: 'counter', id: 'pets:status:sold', expected: '6', found: '7' }],
  ],
  [
    'a parked event deleted',
    'DELETE FROM parked WHERE record_offset = 6',
    [
      { where: 'parked event', id: '0/6', expected: expect.stringContaining('an earlier event'), found: undefined },
      { where: 'size', id: 'parked events', expected: '3', found: '2' },
    ],
  ],
  [
    'a parked event changed',
    `UPDATE parked SET reason = 'none' WHERE record_offset = 6`,
    [
      {
        where: 'parked event',
        id: '0/6',
        expected: expect.stringContaining('an earlier event'),
        found: expect.stringContaining('none'),
      },
    ],
  ],
  [
    'a parked event at another place',
    'UPDATE parked SET record_offset = 7 WHERE record_offset = 6',
    [
      { where: 'parked event', id: '0/7', expected: undefined, found: expect.stringContaining('an earlier event') },
      { where: 'parked event', id: '0/6', expected: expect.stringContaining('an earlier event'), found: undefined },
    ],
  ],
  [
    'the counts of a checkpoint changed',
    `UPDATE checkpoint SET checkpoint = replace(checkpoint, ',13,', ',12,')`,
    [
      {
        where: 'checkpoint of partition',
        id: '0',
        expected: expect.stringContaining(',13,'),
        found: expect.stringContaining(',12,'),
      },
    ],
  ],
]

it.each(damages)('verify finds %s, and nothing else', async (_, damage, differences) => {
  const world = await worldOfEveryKind()
  world.sql(damage)
  const { differences: found } = await startVerify(world)
  expect(found.map(({ where, id }) => `${where} ${id}`).sort()).toEqual(
    differences.map(({ where, id }) => `${where} ${id}`).sort(),
  )
  for (const difference of differences) expect(found).toContainEqual(expect.objectContaining(difference))
})
