import { expect, it, vi } from 'vitest'
import { Applier } from '../../../src/engine/projector/applier.ts'
import { DamagedError } from '../../../src/engine/read-models/damaged.ts'
import type { DocumentChange } from '../../../src/engine/read-models/ports/projection.ts'
import { hiddenBehindMax, placedRow, rowsMark } from '../../../src/engine/read-models/row-place.ts'
import { type Stores, shardsOf } from '../../../src/engine/read-models/shards.ts'
import { decodeRow, encodeEntry } from '../../../src/engine/read-models/stored-texts.ts'
import { rebuild } from '../../../src/engine/rebuilding/rebuild.ts'
import { verify } from '../../../src/engine/rebuilding/verify.ts'
import { StreamState } from '../../../src/engine/rule/stream-state.ts'
import { MemoryEventLog, MemoryLogData } from '../../../src/engine/testing/memory/memory-event-log.ts'
import { added, applyAll, firstBatch, markedSeat } from '../read-models/contract/samples.ts'
import { memoryReadModels } from '../read-models/memory-read-models.ts'
import { happening, madeUp } from './made-up.ts'
import { logger } from './projecting.ts'
import { logOf } from './records.ts'

const row = (hidden: string, version = 1) => {
  return {
    version,
    isRemoved: false,
    entries: Array.from({ length: 128 }, () => encodeEntry(2 ** 40, 'event')),
    hidden,
  }
}

it('a row stands behind the document up to 1,024 hidden characters, however many entries it has', () => {
  expect(hiddenBehindMax).toBe(1024)
  const [most, more] = [row('é'.repeat(1024)), row('é'.repeat(1025))]
  expect(placedRow(most, true)).toEqual({ behind: expect.stringContaining(most.hidden) })
  expect(placedRow(more, true)).toEqual({ behind: rowsMark, inRows: expect.stringContaining(more.hidden) })
  for (const each of [most, more]) expect(placedRow(each, false)).toEqual({ inRows: expect.anything() })
  expect(() => decodeRow('1', '{"id":1}', rowsMark)).toThrow('not a row')
})

/** The changes of the stream 1, of which so much is hidden, with an event that hides as much as `n`, or is passed over. */
function changesOf(stored: number | undefined, n: number | undefined) {
  const state = { stream: '1', changes: 1, isRemoved: false, other: 0, removesOther: false, hidden: '' }
  const before = stored === undefined ? undefined : { ...state, hidden: 'x'.repeat(stored) }
  const document = '{"id":1,"changes":1}'
  const loaded = before && {
    ...{ stream: '1', document, ...row(madeUp.kinds[0].codec.hidden(before, document)) },
    entries: [encodeEntry(0, 'event')],
  }
  const stream = new StreamState(madeUp.kinds[0] as never, '1', { collection: 'seats', id: 1 }, loaded)
  const event = { type: 'Happening', op: 'hide', stream: '1', n }
  if (n === undefined) stream.passOver(encodeEntry(1, 'event'))
  else stream.apply({ events: [event], time: '' } as never, encodeEntry(1, 'event'), () => {})
  const [rows, history] = [
    { put: [], removed: [] },
    { put: [], removed: [] },
  ]
  const documents: DocumentChange[] = []
  stream.addChanges({ documents, rows, history })
  return { behind: documents.map(({ before, after }) => [before?.behind, after?.behind]), rows }
}

const short = expect.stringMatching(/^\d \S* .{0,1024}$/s)
const long = [['1', expect.stringMatching(/^\d \S* .{1025,}$/s)]]

it.each([
  ['none', undefined, 0, [[undefined, short]], { put: [], removed: [] }],
  ['none', undefined, 2000, [[undefined, rowsMark]], { put: long, removed: [] }],
  ['a short one', 5, 6, [[short, short]], { put: [], removed: [] }],
  ['a short one', 5, 2000, [[short, rowsMark]], { put: long, removed: [] }],
  ['a long one', 2000, 5, [[rowsMark, short]], { put: [], removed: ['1'] }],
  ['a long one', 2000, 2001, [[rowsMark, rowsMark]], { put: long, removed: [] }],
])('after %s, of %s hidden characters, comes one of %s', (_, before, after, behind, rows) => {
  expect(changesOf(before, after)).toEqual({ behind, rows })
})

it('a document that stays as it is is written again for a row behind it alone', () => {
  expect(changesOf(5, undefined).behind).toEqual([[short, short]])
  expect(changesOf(2000, undefined)).toEqual({ behind: [], rows: { put: long, removed: [] } })
})

it('a stream whose row is missing is not taken for a new one: its partition stays where it is', async () => {
  const store = memoryReadModels()
  await store.generations.start({ name: 'generation', logId: 'log' }, undefined)
  const first = firstBatch({ documents: added(markedSeat(1)), rows: [['2', '1 0AAAA hidden']] })
  await applyAll(store, 'generation', first)
  const log = { partitionFor: () => 0, endOffsets: async () => [], read: async () => ({ records: [], next: 0 }) }
  const incomplete = { report: vi.fn() }
  const options = { store: store.projection, definition: madeUp as never, log, logger, incomplete }
  const records = logOf([happening({ stream: '1', op: 'change', n: 0, id: 'event', version: 2 })], 1)
  const batch = { partition: 0, from: 1, records, next: 2 }
  const applying = new Applier(options).apply('generation', first.checkpoint, batch)
  await expect(applying).rejects.toBeInstanceOf(DamagedError)
  expect(incomplete.report).toHaveBeenCalledExactlyOnceWith('generation', undefined)
  expect(await store.generations.checkpoints('generation')).toEqual(new Map([[0, first.checkpoint]]))
})

it('a long row is in the shard of its stream, which is built and verified by itself', async () => {
  const data = new MemoryLogData(7)
  const whole = new MemoryEventLog(data)
  const streams = Array.from({ length: 12 }, (_, i) => String(i + 1))
  for (const stream of streams) {
    data.add(whole.partitionFor(stream), [happening({ stream, op: 'hide', n: 2000, id: stream, version: 1 })])
  }
  const stores = [0, 1, 2].map(() => memoryReadModels()) as unknown as Stores
  const shown = await Promise.all(
    shardsOf(stores, whole).map(async ({ store, log }) => {
      const options = { store, log, definition: madeUp as never, logger }
      expect(await rebuild(options)).toBe('activated')
      expect((await verify({ ...options, scratch: memoryReadModels() })).differences).toEqual([])
      const { name = '' } = (await store.generations.active()) ?? {}
      const loaded = await Promise.all(streams.map((stream) => store.reads.load(name, { stream })))
      return loaded.flatMap(({ row }) => (row && row.hidden.length > 2000 ? row.stream : []))
    }),
  )
  expect(shown.every((own) => own.length > 0)).toBe(true)
  expect(shown.flat().sort()).toEqual(streams.sort())
})
