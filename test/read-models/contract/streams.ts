import { expect } from 'vitest'
import { decodeRow } from '../../../src/read-models/stream-row.ts'
import { compared } from './compared.ts'
import { topic } from './fixture.ts'
import { fullBatch } from './full.ts'
import { added, applyAll, batchAfter, firstBatch, parkedEvent, pet, rowOf, started } from './samples.ts'
import { greatestId, rowText, strangeTexts } from './values.ts'

/** Texts that JavaScript, Lua or SQL may take for the number 7, or for one that is no id. */
const noIds = '07|7.0| 7|7 |+7|-7|7e0|0x7|٧|７|7\0|7\n|0|1e3|9007199254740993'.split('|')

export const streams = topic('streams', {
  'a document shows the stream of its very id in decimal, and no other': async (fixture) => {
    const { store, generation, apply } = await compared(await fixture.open(), ...noIds, '9007199254740991')
    await apply(firstBatch({ documents: added(pet(7), pet(greatestId)) }))
    const request = { partition: 0, keys: [], queues: [], streams: ['7', '9007199254740991', ...noIds] }
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
    const unparked = [...first.parked, ...second.parked].filter((_, i) => i % 2 === 0)
    await apply(second, batchAfter(second, { unparked }))
  },

  'a projector gets all that it asks for in one answer, and nothing else': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, fullBatch())
    const { json, version } = pet(1)
    const rows = [decodeRow('1', { json, version }, rowText(1)), decodeRow('s', undefined, rowText(1))]
    const nothing = { streams: [], keys: [], queues: [], rows: new Map(), decidedKeys: new Set() }
    const request = { ...nothing, partition: 0, streams: ['1', 's', 'parked', 'none'], keys: ['k', 'none'] }
    const always = { checkpoint: fullBatch().checkpoint, parkedStreams: new Set(['parked']) }
    const state = { ...always, rows: new Map(rows.map((row) => [row.stream, row])), decidedKeys: new Set(['k']) }
    expect(await store.projection.load(generation, request)).toEqual({ ...state, queues: new Map() })
    const ofQueues = await store.projection.load(generation, { ...nothing, partition: 0, queues: ['parked', 'none'] })
    const queues = new Map(Object.entries({ parked: fullBatch().parked, none: [] }))
    expect(ofQueues).toEqual({ ...always, rows: new Map(), decidedKeys: new Set(), queues })
  },

  'a queue is in order of offset; what is parked at an offset again takes the place of what was there': async (
    fixture,
  ) => {
    const { store, generation, apply } = await compared(await fixture.open())
    const value = '{"a":\n[]} / \u0000é🐕'
    const event = (offset: number, reason = '') => ({ ...parkedEvent(0, offset, '7', reason), value })
    const first = { ...firstBatch({}), parked: [event(100), parkedEvent(0, 8, '70'), event(9)] }
    const again = event(9, 'another é🐕\u0000 "reason"')
    const second = { ...batchAfter(first), parked: [event(greatestId - 1), event(10), again] }
    await apply(first, firstBatch({ parked: ['s', '7/0'] }, 1), second)
    const request = { partition: 0, streams: [], keys: [], queues: ['7'] }
    const queues = (await store.projection.load(generation, request))?.queues
    expect(queues).toEqual(new Map([['7', [again, event(10), event(100), event(greatestId - 1)]]]))
    expect((await store.inspection.contents(generation))?.sizes.get('parked')).toEqual({ actual: 7, recorded: 7 })
  },

  'what is unparked is parked no longer, without the position having to move, and may be parked again': async (
    fixture,
  ) => {
    const { store, generation, apply } = await compared(await fixture.open())
    const first = firstBatch({ parked: ['s', 's', 't', 's'] })
    const second = batchAfter(first, { unparked: first.parked.filter((_, i) => i % 3 === 0) })
    const third = batchAfter(second, { unparked: [{ stream: 's', offset: 1 }], parked: ['t', 's'] })
    await apply(first, firstBatch({ parked: ['u'] }, 1), second, third)
    const takenUp = batchAfter(third, { unparked: third.parked, rows: [rowOf('s')], keys: ['k'] })
    const { counts } = takenUp.checkpoint
    const inPlace = { ...takenUp, checkpoint: { ...third.checkpoint, counts } }
    expect(await apply(inPlace)).toEqual({ outcome: 'applied' })
    expect((await store.reads.load(generation, { stream: 's' })).hasParked).toBe(false)
    expect(await apply(inPlace)).toEqual({ outcome: 'checkpoint_mismatch' })
    await apply({ ...batchAfter(inPlace), parked: first.parked.slice(0, 1) })
    expect((await store.reads.load(generation, { stream: 's' })).hasParked).toBe(true)
  },
})
