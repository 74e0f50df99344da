import { setImmediate } from 'node:timers/promises'
import { expect } from 'vitest'
import { textSets } from '../../../../src/engine/read-models/document.ts'
import type { Generation, Snapshot } from '../../../../src/engine/read-models/ports/generations.ts'
import type { PageQuery, Proof, StoredPage, StreamQuery } from '../../../../src/engine/read-models/ports/reads.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { decodeEntry, decodeRow } from '../../../../src/engine/read-models/stored-texts.ts'
import { memoryReadModels } from '../memory-read-models.ts'
import { contentOf, versionContent } from './contents.ts'
import { type ReadModelsFixture, topic } from './fixture.ts'
import { fullBatch, fullSets, keyedBooking } from './full.ts'
import {
  added,
  applyAll,
  at,
  batchAfter,
  booking,
  checkpointsAfter,
  firstBatch,
  home,
  newGeneration,
  parkedStream,
  rowOf,
  seat,
  started,
  under,
} from './samples.ts'
import { entryOf, greatestId, recordOf, rowText } from './values.ts'

const ids = [1, 2, 3, 9, 10, 11, 100, 2 ** 31, 2 ** 32 + 1, 10 ** 15 + 1, greatestId - 2, greatestId - 1, greatestId]
const isEven = (id: number) => id % 2 === 0

const afters = [0, 1, 3, 4, 9, 11, 99, 2 ** 32, 10 ** 15, greatestId - 3, greatestId - 2, greatestId - 1, greatestId]
const limits = [1, 2, 5, ids.length - 1, ids.length, 100_000]
const queries: readonly PageQuery[] = [undefined, 'all', 'even', 'none'].flatMap((index) =>
  afters.flatMap((after) => limits.map((limit) => ({ collection: home, ...under(index), after, limit }))),
)

/** Starts a generation with all `ids`, whose documents hold `text`, in two partitions. */
async function fill(store: ReadModelStore, generation: Generation, instead: Generation | undefined, text: string) {
  const all = ids.map((id) => seat(id, isEven(id) ? ['all', 'even'] : ['all'], 1, text)).reverse()
  const batches = [all.slice(0, 5), all.slice(5)].map((seats, i) => firstBatch({ documents: added(...seats) }, i))
  await store.generations.start(generation, instead?.name)
  await applyAll(store, generation.name, ...batches)
}

/** The pages of these generations by turns: after one, and after many, of another. */
async function pagesOf({ reads }: ReadModelStore, generations: readonly Generation[]): Promise<StoredPage[]> {
  const answers: Promise<StoredPage>[] = []
  for (const run of [1, 3, 20, 100]) {
    for (const [i, query] of queries.entries()) {
      answers.push(reads.page(generations[Math.floor(i / run) % generations.length]?.name ?? '', query))
      if (i % 30 === 29) await setImmediate() // some are under way while others come
      if (i % 120 === 119) await Promise.all(answers) // or the last ones would wait too long on a busy machine
    }
  }
  return await Promise.all(answers)
}

/** The proofs of reads of a full batch, by what they read. */
async function proofsOf({ reads }: ReadModelStore, name: string): Promise<Record<string, Proof>> {
  const page = { after: 0, limit: 10, collection: home }
  const answers = {
    seats: reads.page(name, page),
    'seats:a': reads.page(name, { ...page, indexKeys: ['a'] }),
    'seats:b': reads.page(name, { ...page, indexKeys: ['b'] }),
    bookings: reads.find(name, { collection: 'bookings', id: 5 }),
    'bookings:a': reads.page(name, { ...page, collection: 'bookings', indexKeys: ['a'] }),
    'bookings:n=': reads.page(name, { ...page, collection: 'bookings', indexKeys: keyedBooking.indexKeys }),
    rows: reads.load(name, { stream: 's' }),
    keys: reads.load(name, { key: { partition: 0, key: 'k' } }),
    history: reads.load(name, { stream: 's', versions: { first: 1, last: 1 } }),
    parked: reads.load(name, { stream: 'parked' }),
    'seats by stream': reads.load(name, { stream: '1' }),
    'all by document': reads.load(name, { document: { collection: 'bookings', id: 5 } }),
  }
  const proofs = Object.entries(answers).map(async ([set, answer]) => [set, (await answer).proof] as const)
  return Object.fromEntries(await Promise.all(proofs))
}

async function full(fixture: ReadModelsFixture) {
  const { store, generation } = await started(fixture)
  await applyAll(store, generation, fullBatch())
  return { store, generation, checkpoints: checkpointsAfter(fullBatch()) }
}

export const reading = topic('reading', {
  'a page holds the first documents above an id in order, and the last id where more follow; many at once': async (
    fixture,
  ) => {
    const [first, second, empty, unknown] = [newGeneration(), newGeneration(), newGeneration(), newGeneration()]
    const stores = [await fixture.open(), memoryReadModels()]
    const [answers, expected] = await Promise.all(
      stores.map(async (store) => {
        await fill(store, first, undefined, 'first')
        await fill(store, second, first, 'é🐕","')
        await store.generations.start(empty, second.name)
        return await pagesOf(store, [first, second, empty, unknown])
      }),
    )
    expect(answers).toEqual(expected)
  },

  'a page of ids holds those that there are, of all or of an index, with the proof of the set': async (fixture) => {
    const { store, generation, checkpoints } = await full(fixture)
    const page = (ids: readonly number[], index?: string) =>
      store.reads.page(generation, { collection: home, ...under(index), after: 0, limit: ids.length, ids })
    const proof = { active: generation, checkpoints, isComplete: true }
    const found = [seat(1, ['a', 'b']), seat(2, ['a'])].map(({ json }) => json)
    const none = { documents: '', count: 0 }
    for (const [ids, index, expected] of [
      [[1, 2, 9007199254740991], undefined, { documents: found.join(','), count: 2 }],
      [[2, 3], undefined, { documents: found[1], count: 1 }],
      [[1, 2], 'b', { documents: found[0], count: 1 }],
      [[2], 'b', none],
      [[1], 'unknown', none],
    ] as const) {
      expect(await page(ids, index)).toEqual({ proof, last: undefined, ...expected })
    }
    expect(await store.reads.page('unknown', { collection: home, after: 0, limit: 1, ids: [1] })).toMatchObject(none)
  },

  'whether there is a document, a row or a parked event under some ids is told with the proof of these sets': async (
    fixture,
  ) => {
    const { store, generation } = await started(fixture)
    const noIds = ['07', '5e0', '1005.0', '9.', 's', '1/1004']
    const first = firstBatch({
      documents: added(seat(100, ['a']), booking(1000, [], '', '77'), seat(greatestId)),
      rows: [rowOf('10', 3), ...noIds.map((stream) => rowOf(stream))],
      parked: ['1003', '1004/1'],
      keys: ['20'],
      waiting: [['0/1003', '21']],
    })
    await applyAll(store, generation, first)
    const held = (from: number, to: number, collections = [home, 'bookings', 'none']) =>
      store.reads.heldIds(generation, { collections, first: from, last: to })
    const proof = { active: generation, checkpoints: checkpointsAfter(first), isComplete: true }
    for (const [from, to, holdsAny] of [
      [100, 100, true],
      [91, 100, true],
      [100, 101, true],
      [1, 9, false],
      [1, 10, true],
      [10, 99, true],
      [11, 99, false],
      [101, 999, false],
      [101, 1100, true],
      [1001, 1002, false],
      [1003, 1003, true],
      [1004, 2003, false],
      [greatestId - 999, greatestId, true],
      [greatestId - 999, greatestId - 1, false],
    ] as const) {
      expect(await held(from, to), `${from}-${to}`).toEqual({ proof, holdsAny })
    }
    expect(await held(1000, 1000, [home])).toMatchObject({ holdsAny: false })
    const gone = await store.reads.heldIds('unknown', { collections: [home], first: 1, last: 100 })
    expect(gone).toEqual({ proof: { ...proof, checkpoints: new Map() }, holdsAny: false })
    await fixture.damage(generation, 'parked', '1003')
    expect((await held(11, 99)).proof.isComplete).toBe(!fixture.provesSizes)
  },

  'a load gives row, parked events and decision in one answer, and of what is not asked for nothing': async (
    fixture,
  ) => {
    const { store, generation, checkpoints } = await full(fixture)
    const proof = { active: generation, checkpoints, isComplete: true }
    const entries = new Map()
    const none = { proof, row: undefined, document: undefined, parked: undefined, decided: undefined, entries }
    const [stream, key, versions] = ['s', { partition: 0, key: 'k' }, { first: 64, last: 65 }]
    const [row, one] = [decodeRow('s', undefined, rowText(129)), decodeRow('1', seat(1).json, rowText(1))]
    const [parked, decided] = [parkedStream('parked', 0), recordOf('k', 0)]
    const found = new Map([64, 65].map((version) => [version, decodeEntry(entryOf(version))]))
    const [bookingId, document] = [
      { collection: 'bookings', id: 5 },
      { json: booking(5).json, stream: '1' },
    ]
    const cases: [StreamQuery, object][] = [
      [{}, {}],
      [{ stream }, { row }],
      [{ stream: 'parked' }, { parked }],
      [{ key }, { decided }],
      [{ versions }, {}],
      [
        { stream, key, versions },
        { row, decided, entries: found },
      ],
      [{ stream: '1', key: { ...key, key: 'l' } }, { row: one }],
      [{ stream: 'none', key: { ...key, partition: 1 }, versions }, {}],
      [{ document: bookingId }, { row: one, document }],
      [
        { document: bookingId, stream },
        { row, document },
      ],
    ]
    const answers = await Promise.all(cases.map(([query]) => store.reads.load(generation, query)))
    expect(answers).toEqual(cases.map(([, answer]) => ({ ...none, ...answer })))
    const queries = cases.map(([query]) => query)
    expect(await store.reads.loadAll(generation, queries)).toEqual(answers)
  },

  'what was applied is in whatever is read after it, and in no earlier answer': async (fixture) => {
    const { store, generation } = await started(fixture)
    const underWay: Promise<unknown>[] = []
    let batch = firstBatch()
    await applyAll(store, generation, batch)
    const page = { collection: home, indexKeys: ['a'], after: 0, limit: 100 }
    const earlier = await store.reads.page(generation, page)
    const copy = structuredClone(earlier)
    for (let id = 1; id <= 30; id++) {
      batch = batchAfter(batch, { documents: added(seat(id, ['a'])) })
      for (let i = 0; i < 20; i++) underWay.push(store.reads.page(generation, page))
      await applyAll(store, generation, batch)
      const { count, proof } = await store.reads.page(generation, page)
      expect([count, proof.checkpoints]).toEqual([id, checkpointsAfter(batch)])
    }
    await Promise.all(underWay)
    expect(earlier).toEqual(copy)
  },

  'every answer names the active generation, and has the checkpoints of the one that was read': async (fixture) => {
    const { store, generation, checkpoints } = await full(fixture)
    const { name: next } = await store.generations.build(newGeneration())
    await applyAll(store, next, fullBatch(), firstBatch({}, 1))
    const both = checkpointsAfter(fullBatch(), firstBatch({}, 1))
    const expectProofs = async (name: string, snapshot: Snapshot) => {
      const proofs = Object.values(await proofsOf(store, name))
      expect(proofs).toEqual(proofs.map(() => ({ ...snapshot, isComplete: true })))
    }
    const expectSnapshots = async (name: string, snapshot: Snapshot) => {
      await expectProofs(name, snapshot)
      const { contents, recorded, scan, find } = store.inspection
      const inspected = [home, 'none', ...textSets].flatMap((set) => [
        scan(name, set, undefined, 10),
        find(name, set, ['1']),
      ])
      const answers = await Promise.all([contents(name), recorded(name), ...inspected])
      expect(answers.map((answer) => answer?.snapshot)).toEqual(answers.map(() => snapshot))
    }
    await expectSnapshots(generation, { active: generation, checkpoints })
    await expectSnapshots(next, { active: generation, checkpoints: both })
    await store.generations.activate(next)
    await expectSnapshots(generation, { active: next, checkpoints })
    await expectSnapshots(next, { active: next, checkpoints: both })
    await fixture.empty()
    await expectProofs(next, { active: undefined, checkpoints: new Map() })
  },

  'a generation that lost an entry of any set shows it, and does not take over': async (fixture) => {
    const { store, generation } = await full(fixture)
    for (const [set, entry] of fullSets) {
      const { name } = await store.generations.build(newGeneration())
      await applyAll(store, name, fullBatch())
      const sizes = new Map((await contentOf(store, name))?.sizes)
      await fixture.damage(name, set, entry)
      const before = await versionContent(store, generation, name)
      const recorded = sizes.get(set)?.recorded ?? 0
      expect(before.contents[1]?.sizes).toEqual(sizes.set(set, { actual: recorded - 1, recorded }))
      const proofs = await proofsOf(store, name)
      const { [set]: own, 'seats by stream': byStream, ...rest } = proofs
      // Whatever a load reads, it may tell of every set that loads read.
      const { rows, keys, history, parked, 'all by document': all, ...others } = rest
      for (const proof of set === 'seats' ? [own, byStream] : set === 'waiting' ? [] : [own]) {
        // A chunk of a history is missed wherever its row is.
        expect(proof?.isComplete, set).toBe(!fixture.provesSizes && set !== 'history')
      }
      expect(Object.values(others).map(({ isComplete }) => isComplete)).not.toContain(false)
      const documents = added(seat(77, ['a', 'b']), booking(77, ['a', at('8')]))
      const batch = batchAfter(fullBatch(), { documents, newStreams: ['77'] })
      if (fixture.provesSizes) expect(await store.projection.apply(name, batch), set).toEqual({ outcome: 'incomplete' })
      expect(await store.generations.activate(name), set).toBe('incomplete')
      expect(await versionContent(store, generation, name)).toEqual(before)
      await store.generations.remove(name)
    }
  },
})
