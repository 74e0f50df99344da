import { expect } from 'vitest'
import { decodeEntry, decodeRow } from '../../../../src/engine/read-models/stored-texts.ts'
import { compared } from './compared.ts'
import { topic } from './fixture.ts'
import { fullBatch } from './full.ts'
import {
  added,
  applyAll,
  batchAfter,
  booking,
  firstBatch,
  idsIn,
  parkedItem,
  parkedStream,
  removed,
  rowOf,
  seat,
  started,
  textChanges,
} from './samples.ts'
import { entryOf, greatestId, historyOf, numbers, rowText, strangeTexts } from './values.ts'

/** Texts that JavaScript, Lua or SQL may take for the number 7, or for one that is no id. */
const noIds = '07|7.0| 7|7 |+7|-7|7e0|0x7|٧|７|7\0|7\n|0|1e3|9007199254740993'.split('|')

export const streams = topic('streams', {
  'a document shows the stream of its very id in decimal, and no other': async (fixture) => {
    const { store, generation, apply } = await compared(await fixture.open(), ...noIds, '9007199254740991')
    await apply(firstBatch({ documents: added(seat(7), seat(greatestId)) }))
    const request = { partition: 0, keys: [], waiting: [], streams: ['7', '9007199254740991', ...noIds] }
    const named = async () => [...((await store.projection.load(generation, request))?.rows.keys() ?? [])]
    expect(await named()).toEqual(['7', '9007199254740991'])
    const loaded = await Promise.all(noIds.map((stream) => store.reads.load(generation, { stream })))
    expect(loaded.map(({ row }) => row)).toEqual(noIds.map(() => undefined))
    await apply(firstBatch({ newStreams: noIds, rows: noIds.map((stream) => rowOf(stream, 2)) }, 1))
    expect(await named()).toEqual(request.streams)
  },

  'their names, and keys, may be any text, and each is told apart': async (fixture) => {
    const { apply } = await compared(await fixture.open(), 'a/1/', 'none')
    const third = (rest: number) => strangeTexts.filter((_, i) => i % 3 === rest)
    const [withRow, parked, unknown] = [third(0), third(1), third(2)]
    const rows = withRow.map((stream, i) => rowOf(stream, i + 1))
    const first = firstBatch({ newStreams: strangeTexts, rows, parked, keys: strangeTexts })
    await apply(first)
    const refused = await apply(batchAfter(first, { newStreams: strangeTexts }))
    expect(refused).toMatchObject({ outcome: 'exist', streams: { length: withRow.length + parked.length } })
    const second = batchAfter(first, { newStreams: unknown, parked: strangeTexts, rowsShown: withRow.slice(1) })
    await apply(second, batchAfter(second, { unparked: strangeTexts.filter((_, i) => i % 2 === 0) }))
  },

  'a projector gets all that it asks for in one answer, and nothing else': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, fullBatch())
    const rows = [decodeRow('1', seat(1).json, rowText(1)), decodeRow('s', undefined, rowText(129))]
    const streams = ['1', 's', 'parked', 'none']
    const request = { partition: 0, streams, keys: ['k', 'none'], waiting: ['0/parked', '1/parked', '0/none'] }
    expect(await store.projection.load(generation, request)).toEqual({
      checkpoint: fullBatch().checkpoint,
      rows: new Map(rows.map((row) => [row.stream, row])),
      parked: new Map([['parked', parkedStream('parked', 0)]]),
      isComplete: true,
      decidedKeys: new Set(['k']),
      waiting: new Map([['0/parked', [1, 2]]]),
    })
  },

  'of a stream with parked events its first offset, how many wait and the reason are given back as they are': async (
    fixture,
  ) => {
    const { store, generation, apply } = await compared(await fixture.open())
    const parked = [0, 7, 2 ** 53 - 2].map((first, i) => {
      return {
        ...parkedStream(['s', 'a/1', '7'][i] ?? '', first, 0, 500 * i),
        reason: ['', 'a é🐕\n" \\', ' 1 2 '][i] ?? '',
      }
    })
    const first = { ...firstBatch(), texts: textChanges({ parked: { put: parked.map(parkedItem) } }) }
    const again = { ...parkedStream('s', 3), reason: 'another' }
    const second = {
      ...batchAfter(first),
      texts: textChanges({ parked: { put: [parkedItem(again)], removed: ['7'] } }),
    }
    await apply(first)
    const load = async () => {
      const loaded = await Promise.all(parked.map(({ stream }) => store.reads.load(generation, { stream })))
      return loaded.map((each) => each.parked)
    }
    expect(await load()).toEqual(parked)
    await apply(second)
    expect(await load()).toEqual([again, parked[1], undefined])
    expect((await store.inspection.contents(generation))?.sizes.get('parked')).toEqual({ actual: 2, recorded: 2 })
  },

  'a load gives the entries of the versions that it asks for, from the row and from chunks': async (fixture) => {
    const { store, generation } = await started(fixture)
    const version = 64 * 3 + 65
    const history = numbers(3, 0).map((chunk) => historyOf('s', chunk))
    await applyAll(store, generation, firstBatch({ rows: [rowOf('s', version)], history }))
    const ranges = [
      ...[1, 63, 64, 128, 191, 192, 193, version - 1, version].map((last) => [last - 1, last] as const),
      ...([
        [-5, 3],
        [1, version],
        [60, 130],
        [version, 2 * version],
        [2 ** 53 - 2, 2 ** 53 - 1],
      ] as const),
    ]
    for (const [first, last] of ranges) {
      const { entries, proof } = await store.reads.load(generation, { stream: 's', versions: { first, last } })
      const expected = numbers(version).filter((each) => each >= first && each <= last)
      expect([...entries]).toEqual(expected.map((each) => [each, decodeEntry(entryOf(each))]))
      expect(proof.isComplete).toBe(true)
    }
    expect((await store.reads.load(generation, { stream: 's' })).entries).toEqual(new Map())
  },

  'a chunk that the row implies and that is not there makes an answer incomplete': async (fixture) => {
    const { store, generation } = await started(fixture)
    const history = [historyOf('s', 0), historyOf('another', 1)]
    await applyAll(store, generation, firstBatch({ rows: [rowOf('s', 193)], history }))
    const isComplete = async (last: number) => {
      const { proof } = await store.reads.load(generation, { stream: 's', versions: { first: last - 1, last } })
      return proof.isComplete
    }
    expect([await isComplete(64), await isComplete(65), await isComplete(128)]).toEqual([true, false, false])
    expect([await isComplete(130), await isComplete(193), await isComplete(300)]).toEqual([true, true, true])
  },

  'a load by document gives the document and all of its stream, whatever that is called': async (fixture) => {
    const { store, generation } = await started(fixture)
    const names = ['7', '07', `${greatestId}`, '9007199254740993', 's/é🐕"', '0']
    const bookings = names.map((stream, i) => booking(i + 1, ['a'], '', stream))
    const shown = [seat(7), seat(greatestId)]
    const rows = names.filter((name) => !shown.some(({ id }) => `${id}` === name)).map((name, i) => rowOf(name, i + 2))
    const content = { documents: added(...bookings, ...shown), rows, parked: names.slice(1, 4), keys: ['k'] }
    await applyAll(store, generation, firstBatch(content))
    const key = { partition: 0, key: 'k' }
    for (const { id, json, behind: stream } of bookings) {
      const document = { collection: 'bookings', id }
      const loaded = await store.reads.load(generation, { document, key })
      expect(loaded).toEqual({ ...(await store.reads.load(generation, { stream, key })), document: { json, stream } })
      expect(loaded.row?.stream).toBe(stream)
      expect(await store.reads.load(generation, { document, stream: '7' })).toMatchObject({ row: { stream: '7' } })
    }
    const own = await store.reads.load(generation, { document: { collection: 'seats', id: 7 } })
    expect(own).toMatchObject({
      document: { json: seat(7).json, stream: '7' },
      row: { stream: '7', document: seat(7).json },
    })
    const none = await store.reads.load(generation, { document: { collection: 'bookings', id: 99 } })
    expect([none.document, none.row, none.parked]).toEqual([undefined, undefined, undefined])
  },

  'a removed document is in none of its sets, its row is in that of rows, and others stay': async (fixture) => {
    const { store, generation, apply } = await compared(await fixture.open())
    const first = firstBatch({ documents: added(seat(1, ['a', 'b']), seat(2, ['a']), booking(1, ['a'], '', '1')) })
    const row = ['1', rowText(2).replace('2', '2x')] as const
    const second = batchAfter(first, {
      documents: [...removed(seat(1, ['a', 'b'])), ...added(seat(3, ['a']))],
      rows: [row],
    })
    await apply(first, second)
    const { row: found } = await store.reads.load(generation, { stream: '1' })
    expect(found).toMatchObject({ version: 2, isRemoved: true, document: undefined })
    expect(await store.reads.find(generation, { collection: 'seats', id: 1 })).toMatchObject({ document: undefined })
    expect([await idsIn(store, generation), await idsIn(store, generation, 'a')]).toEqual([
      [2, 3],
      [2, 3],
    ])
    expect(await store.projection.apply(generation, firstBatch({ newStreams: ['1'] }, 1))).toMatchObject({
      streams: ['1'],
    })
    await apply(batchAfter(second, { documents: removed(seat(2, ['a']), seat(3, ['a'])) }))
  },
})
