import { expect, it } from 'vitest'
import { entryId } from '../../../src/engine/read-models/document.ts'
import { everything } from '../projector/projecting.ts'
import { seatAdded } from '../projector/records.ts'
import { openWorld, untilCaughtUp } from '../projector/world.ts'
import { theatreByRow } from '../theatre/theatre-by-row.ts'
import { startRebuild } from './rebuilding.ts'
import { startVerify } from './verifying.ts'

const set = 'seats:rowId='
const seats = 2500
const definition = theatreByRow

/** Where an entry is damaged: in the first chunk, in one in the middle, and behind it. */
const places = [0, 1250, seats - 1]

async function worldOfRows() {
  const world = openWorld(definition)
  const added = (id: number) => seatAdded({ id, rowId: (id * 7) % 11, status: id % 3 === 0 ? 'sold' : 'available' })
  await world.append(Array.from({ length: seats }, (_, i) => added(i + 1)))
  await world.start({ definition })
  await untilCaughtUp(world)
  await world.stop()
  return world
}

type Kind = 'is missing' | 'is too many' | 'is another'
type Expected = readonly [which: 'at' | 'beside', kind: Kind]

/** A damage in SQL, where `[t]` is the table and `[at]` the entry; and which entries are not as they should be. */
const damages: readonly [what: string, sql: string, ...expected: Expected[]][] = [
  ['entries that are missing', 'DELETE FROM [t] WHERE (key, id) = [at]', ['at', 'is missing']],
  [
    'entries that are too many',
    'INSERT INTO [t] SELECT key, id + 10000, json FROM [t] WHERE (key, id) = [at]',
    ['beside', 'is too many'],
  ],
  [
    'entries of one document in the place of another', // as many as before
    'UPDATE [t] SET id = id + 10000 WHERE (key, id) = [at]',
    ...([
      ['at', 'is missing'],
      ['beside', 'is too many'],
    ] as const),
  ],
  [
    'JSON of one document in the place of another',
    "UPDATE [t] SET json = replace(json, 'seat', 'pest') WHERE (key, id) = [at]",
    ['at', 'is another'],
  ],
]

it.each(damages)(
  'a verification names %s, wherever they are, and a rebuild heals them',
  async (_, sql, ...expected) => {
    const world = await worldOfRows()
    const before = await everything(world.store)
    const entries = before.documents[set] ?? []
    expect(entries).toHaveLength(seats)
    for (const place of places) {
      const [entry = '', json = ''] = entries[place] ?? []
      const [key, id] = [entry.slice(0, -16), Number(entry.slice(-16))]
      const at = `(SELECT '${key}', ${id})`
      world.sql(sql.replaceAll('[t]', world.tableOf(set)).replaceAll('[at]', at))
      const { differences } = await startVerify(world, { definition })
      const inSet = differences.filter(({ where }) => where === set)
      const texts = {
        'is missing': { expected: json, found: undefined },
        'is too many': { expected: undefined, found: json },
        'is another': { expected: json, found: json.replace('seat', 'pest') },
      }
      const named = { at: entry, beside: entryId(key, id + 10_000) }
      const all = expected.map(([which, kind]) => ({ where: set, id: named[which], ...texts[kind] }))
      expect(inSet).toHaveLength(all.length)
      expect(inSet).toEqual(expect.arrayContaining(all))
      const added = expected.reduce(
        (sum, [, kind]) => sum + { 'is missing': -1, 'is too many': 1, 'is another': 0 }[kind],
        0,
      )
      const size = { where: 'size', id: set, expected: `${seats} of ${seats}`, found: `${seats + added} of ${seats}` }
      expect(differences.filter(({ where }) => where !== set)).toEqual(added === 0 ? [] : [size])
      expect(await startRebuild(world, { definition })).toBe('activated')
      await world.store.generations.prune(0)
      expect((await startVerify(world, { definition })).differences).toEqual([])
      expect(await everything(world.store)).toEqual(before)
    }
  },
)
