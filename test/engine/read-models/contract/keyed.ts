import { expect } from 'vitest'
import { beginningOf, documentsIn, entryId, type IndexKey } from '../../../../src/engine/read-models/document.ts'
import type { PageQuery } from '../../../../src/engine/read-models/ports/reads.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { compared } from './compared.ts'
import { expectGone } from './contents.ts'
import { topic } from './fixture.ts'
import { fullBatch, keyedBooking, keyedEntry } from './full.ts'
import {
  added,
  applyAll,
  at,
  batchAfter,
  changed,
  firstBatch,
  home,
  itemsIn,
  newGeneration,
  removed,
  seat,
  started,
} from './samples.ts'
import { numbers } from './values.ts'

const set = `${home}:n=`

/** Texts that are the beginning of another, that look like what is stored beside them, and whose bytes order otherwise. */
const values: readonly string[] = [
  ...['-9223372036854775808', '-1', '0', '1', '7', '10', '70', '77', '9223372036854775807'],
  ...[
    'a',
    'aa',
    'ab',
    'a:',
    '1:a',
    '7x',
    '7 ',
    '7x ',
    ' ',
    '  ',
    ':',
    '=',
    'n=1:7',
    '{',
    '{"id":',
    ',{"id":1}',
    '\\',
    '"',
  ],
  ...['\u0001', '\u001f', '\u007f', '\u2028', 'é', 'e\u0301', '*', '[a-z]', '%s', '-', '(', '+', '0000000000000001'],
  ...['\uffffa', '\u{10000}', '\ufeffa', '\u{10ffff}', '\u{10ffff}'.repeat(128), 'x'.repeat(127), 'x'.repeat(128)],
]
const besides = ['x', 'y', ''] as const
const [first, last] = [1, values.length]

/** Each value has three documents, one for each that is beside it; the ids of a value are far from each other. */
const idOf = (value: number, beside: number) => first + value + last * beside
const ofValues = values.flatMap((value, i) => besides.map((beside, j) => seat(idOf(i, j), [at(value, beside), beside])))

async function pageIn({ reads }: ReadModelStore, generation: string, query: Omit<PageQuery, 'collection'>) {
  const { documents, count, last } = await reads.page(generation, { collection: home, ...query })
  const ids = documentsIn(documents).map(({ id }) => id)
  expect(count).toBe(ids.length)
  return { ids, last }
}

/** The ids under these keys. */
async function idsAt(store: ReadModelStore, generation: string, ...indexKeys: IndexKey[]): Promise<number[]> {
  return (await pageIn(store, generation, { indexKeys, after: 0, limit: 10_000 })).ids
}

export const keyed = topic('keyed sets', {
  'a document that gets another value, or another text, is where it belongs, and nowhere else': async (fixture) => {
    const { store, generation, apply } = await compared(await fixture.open())
    const states: readonly (readonly IndexKey[])[] = [
      ...[[at('7', 'x'), 'x'], [at('7', 'y'), 'y'], [at('77', 'y'), 'y'], [at('77', 'y'), 'y'], ['y'], []],
      ...[[at('7'), at('7').replace('n', 'm')], [at('8').replace('n', 'm'), at('7')], [at('7', 'x')]],
    ]
    const stays = seat(2, [at('7', 'x'), 'x'])
    let before = seat(1, states[0])
    let batch = firstBatch({ documents: added(before, stays) })
    await apply(batch)
    for (const text of ['', 'another']) {
      for (const [i, keys] of [...states, ...states.toReversed()].entries()) {
        const after = seat(1, keys, 1, `${text}${text && i}`)
        batch = batchAfter(batch, { documents: changed([before], [after]) })
        await apply(batch)
        before = after
        for (const key of new Set(states.flat())) {
          const expected = [...(keys.includes(key) ? [1] : []), ...(stays.indexKeys.includes(key) ? [2] : [])]
          expect(await idsAt(store, generation, key), key).toEqual(expected)
        }
      }
    }
    await apply(batchAfter(batch, { documents: removed(before) }))
    expect(await idsAt(store, generation, at('7', 'x'))).toEqual([2])
  },

  'several change places in one batch, and others are removed': async (fixture) => {
    const { store, generation, apply } = await compared(await fixture.open())
    const [a, b] = [at('7', 'x'), at('7', 'y')]
    const before = numbers(30).map((id) => seat(id, [id % 2 === 0 ? a : b]))
    const first = firstBatch({ documents: added(...before) })
    const after = before.slice(0, 20).map(({ id }) => seat(id, [id % 2 === 0 ? b : a], 2))
    const documents = [...changed(before, after), ...removed(...before.slice(25))]
    await apply(first, batchAfter(first, { documents }))
    const odd = numbers(10).map((i) => 2 * i - 1)
    expect(await idsAt(store, generation, a)).toEqual([...odd, 22, 24])
    expect(await idsAt(store, generation, b)).toEqual([...odd.map((id) => id + 1), 21, 23, 25])
  },

  'a page of several keys has the first of all of them in order of id, and the last id where more follow': async (
    fixture,
  ) => {
    const { store, generation } = await started(fixture)
    const keys = numbers(16).map((i) => at('7', `v${i}`))
    const near = [at('7'), at('77', 'v1'), at('6', 'v1'), at('8', 'v1')]
    // The first key has many, others have one in a while; some are in between and have another value.
    const keyOf = (id: number) => (id % 5 === 0 ? keys[id % 16] : id % 7 === 0 ? near[id % 4] : keys[0]) ?? ''
    const all = numbers(400).map((id) => seat(id * 3, [keyOf(id)], 1, `text ${id}`))
    await applyAll(store, generation, firstBatch({ documents: added(...all.toReversed()) }))
    for (const indexKeys of [keys, keys.toReversed(), keys.slice(0, 4), keys.slice(4, 6), keys.slice(0, 1)]) {
      const asked = all.filter(({ indexKeys: [key = ''] }) => indexKeys.includes(key)).map(({ id }) => id)
      for (const after of [0, 1, 15, 600, 1199, 1200]) {
        for (const limit of [1, 2, 20, asked.length - 1, asked.length, 1000]) {
          const behind = asked.filter((id) => id > after)
          const ids = behind.slice(0, limit)
          const last = behind.length > limit ? ids.at(-1) : undefined
          expect(await pageIn(store, generation, { indexKeys, after, limit })).toEqual({ ids, last })
          const some = behind.slice(0, 40).flatMap((id) => [id, id + 1])
          if (some.length > 0)
            expect((await pageIn(store, generation, { indexKeys, after, limit: 80, ids: some })).ids).toEqual(
              behind.slice(0, 40),
            )
        }
      }
    }
  },

  'counts say how many documents have a value, and how many one of them within another': async (fixture) => {
    const { store, generation } = await started(fixture)
    const keys = [at('7', 'x'), at('7', 'y'), at('7'), at('77', 'x'), 'x', 'y', 'none']
    const count = async (indexKeys: readonly IndexKey[] = keys) => {
      const { counts, proof } = await store.reads.count(generation, { collection: home, indexKeys })
      expect(proof).toMatchObject({ active: generation, isComplete: true })
      return counts
    }
    expect(await count()).toEqual([0, 0, 0, 0, 0, 0, 0])
    const seats = numbers(3000).map((id) => seat(id, id % 3 === 0 ? [at('7', 'x'), 'x'] : [at('7', 'y'), 'y']))
    const batch = firstBatch({ documents: added(...seats, seat(3001, ['x']), seat(3002, [at('7')])) })
    await applyAll(store, generation, batch)
    expect(await count()).toEqual([1000, 2000, 1, 0, 1001, 2000, 0])
    expect(await count([at('7', 'y'), 'x'])).toEqual([2000, 1001])
    const [moved, gone] = [seats.slice(0, 2), seats.slice(2, 5)]
    const after = moved.map(({ id }) => seat(id, [at('77', 'x'), 'x'], 2))
    await applyAll(store, generation, batchAfter(batch, { documents: [...changed(moved, after), ...removed(...gone)] }))
    expect(await count()).toEqual([999, 1996, 1, 2, 1002, 1996, 0])
    expect(await count([])).toEqual([])
  },

  'a count is proved by the sets that it counts in': async (fixture) => {
    const { store } = await started(fixture)
    for (const [name, entry, index] of [
      ['bookings:n=', keyedEntry, keyedBooking.indexKeys[0]],
      ['bookings:a', 5, 'a'],
    ] as const) {
      const { name: generation } = await store.generations.build(newGeneration())
      await applyAll(store, generation, fullBatch())
      const isComplete = async (key = '') =>
        (await store.reads.count(generation, { collection: 'bookings', indexKeys: [key] })).proof.isComplete
      expect(await isComplete(index)).toBe(true)
      await fixture.damage(generation, name, entry)
      expect(await isComplete(index)).toBe(!fixture.provesSizes)
      expect(await isComplete('none')).toBe(true)
      await store.generations.remove(generation)
    }
  },

  'entries come once, in order of bytes, page by page, and are found by their names': async (fixture) => {
    const { store, generation } = await started(fixture)
    const many = numbers(2500, 1000).map((id) => seat(id, [at(`${(id * 7919) % 2503}`, id % 2 === 0 ? 'x' : '')]))
    const all = [...ofValues, ...many]
    await applyAll(store, generation, firstBatch({ documents: added(...all.toReversed()) }))
    const entries = all.map(
      ({ id, json, indexKeys: [key = ''] }) => [entryId(beginningOf(key) ?? '', id), json] as const,
    )
    const inOrder = entries.toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    for (const limit of [130, 1000, 100_000]) {
      const found: (readonly [string, string])[] = []
      await itemsIn(store, generation, set, limit, (items) => {
        expect(items).toHaveLength(Math.min(limit, all.length - found.length))
        found.push(...items)
      })
      expect(found).toEqual(inOrder)
    }
    const ids = entries.map(([entry]) => entry)
    const near = ['', '1', '1:7x ', `${ids[0]}0`, `0${ids[0]}`, ids[0]?.slice(0, -1) ?? '', entryId('1:7x ', 4000)]
    const found = await store.inspection.find(generation, set, [...near, ...ids])
    expect(found?.texts).toEqual([...near.map(() => undefined), ...entries.map(([, json]) => json)])
  },

  'nothing is left of a generation that is removed': async (fixture) => {
    const store = await fixture.open()
    const { name } = await store.generations.build(newGeneration())
    await applyAll(
      store,
      name,
      firstBatch({ documents: added(...numbers(5000).map((id) => seat(id, [at('7', 'x')]))) }),
    )
    expect(await idsAt(store, name, at('7', 'x'))).toHaveLength(5000)
    expect(await store.generations.remove(name)).toBe(true)
    await expectGone(store, name)
    expect(await idsAt(store, name, at('7', 'x'))).toEqual([])
  },

  'each value has its own documents, whatever it is, and none of another': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, firstBatch({ documents: added(...ofValues.toReversed(), seat(9999)) }))
    for (const [i, value] of values.entries()) {
      const keys = besides.map((beside) => at(value, beside))
      const own = besides.map((_, j) => idOf(i, j))
      for (const [j, key] of keys.entries()) expect(await idsAt(store, generation, key), value).toEqual([own[j]])
      expect(await idsAt(store, generation, ...keys), value).toEqual(own)
      const counts = await store.reads.count(generation, { collection: home, indexKeys: keys })
      expect(counts.counts, value).toEqual([1, 1, 1])
      const ids = ofValues.map(({ id }) => id).sort((a, b) => a - b)
      const asked = { indexKeys: keys.slice(1), after: 0, limit: ids.length, ids }
      expect(await pageIn(store, generation, asked), value).toEqual({ ids: own.slice(1), last: undefined })
    }
    for (const other of ['', '17', 'A', '70x', 'x'.repeat(126), '\u{10ffff}'.repeat(127)])
      expect(await idsAt(store, generation, ...besides.map((beside) => at(other, beside)))).toEqual([])
  },
})
