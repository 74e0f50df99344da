import { expect, it } from 'vitest'
import { documentMax } from '../../../src/engine/door/stream.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { after, documentsTarget, nothingTold, type PartitionMemory } from '../../../src/engine/log/published-log.ts'
import { DocumentRecords } from '../../../src/engine/publishing/document-records.ts'
import { type FillingOptions, ReadModelFilling } from '../../../src/engine/publishing/filling.ts'
import {
  type Checkpoint,
  encodeParkedStream,
  encodeRow,
  startOfPartition,
} from '../../../src/engine/read-models/stored-texts.ts'
import type { StreamNames } from '../../../src/engine/read-models/stream-names.ts'
import { nothingLoaded } from '../../../src/engine/rule/awaiting.ts'
import { theatre } from '../theatre/theatre.ts'
import { twoKinds } from '../two-kinds.ts'

type Texts = Readonly<Record<string, string>>

interface Stored {
  readonly partitions?: number
  /** JSON by id, by collection; all are of stream 1. */
  readonly documents?: Readonly<Record<string, Texts>>
  /** Each page with how far the read models are then. */
  readonly parked?: readonly { readonly next: number; readonly items: Texts }[]
  readonly rows?: readonly (Texts | Error)[]
  /** Those that are removed once their page is read. */
  readonly leaving?: readonly string[]
}

const version = 3
const checkpointAt = (next: number): Checkpoint => ({
  ...startOfPartition,
  next,
  last: { offset: next - 1, identity: `at ${next}` },
})
const parkedAt = (first: number, partition = 0) =>
  encodeParkedStream({ stream: '', partition, first, waiting: 0, reason: '' })
const rowOf = (isRemoved: boolean) => encodeRow({ version, isRemoved, entries: [], hidden: '' })
const jsonOf = (id: number | string, length = 0) => `{"id":${id},"name":"${'x'.repeat(length)}"}`

/** A filling of read models that are as told, and the memory of its partitions. */
function openFilling(stored: Stored, projections = 'now', names: StreamNames = theatre.names) {
  const { partitions = 1, documents = {}, leaving = [] } = stored
  const parked = stored.parked ?? [{ next: 10, items: {} }]
  const reached = (next: number) => [
    new Map(Array.from({ length: partitions }, (_, each) => [each, checkpointAt(next)])),
  ]
  const records = new DocumentRecords(names)
  const asked: { readonly offsets: readonly number[] }[] = []
  const heard = (positions: readonly { readonly offset: number }[] = []) =>
    void asked.push({ offsets: positions.map(({ offset }) => offset) })
  const rows = [...(stored.rows ?? [])]
  const readModel: FillingOptions['readModel'] = {
    async *texts(set, atLeast) {
      if (set === 'parked')
        for (const { next, items } of parked) yield { items: Object.entries(items), reached: reached(next) }
      else {
        heard(atLeast?.positions)
        for (const page of [...rows]) {
          if (page instanceof Error) {
            rows.splice(rows.indexOf(page), 1)
            throw page
          }
          yield { items: Object.entries(page), reached: reached(10) }
        }
      }
    },
    async page({ collection, after: id, limit }, atLeast) {
      heard(atLeast?.positions)
      const found = Object.entries(documents[collection] ?? {}).filter(([each]) => Number(each) > id)
      const shown = found.slice(0, limit)
      const last = found.length > limit ? Number(shown.at(-1)?.[0]) : undefined
      return { documents: shown.map(([, json]) => json).join(','), count: shown.length, last, reached: reached(10) }
    },
    async loadAll(queries, atLeast) {
      heard(atLeast?.positions)
      return queries.map(({ document }) => {
        const json = documents[document?.collection ?? '']?.[String(document?.id)]
        const isThere = json !== undefined && !leaving.includes(String(document?.id))
        const row = { stream: '1', version, entries: [], document: undefined, isRemoved: false, hidden: '' }
        return { ...nothingLoaded, reached: [], ...(isThere && { document: { json, stream: '1' }, row }) }
      })
    },
  }
  const collections = [...new Set([...names.collections, 'bookings'])]
  const log = {
    partitionFor: (key: string) => Number(key.startsWith('halls/') ? 1 + Number(key.slice(6)) : key) % partitions,
  }
  const filling = new ReadModelFilling({
    ...{ log, readModel, records, collections, names, projections },
  })
  let memories: readonly PartitionMemory[] = Array.from({ length: partitions }, () => nothingTold)
  /** One step; resolves to what it tells, by partition. */
  async function step(): Promise<string[][]> {
    const lane = memories
      .map((memory, partition) => ({ partition, memory }))
      .filter(({ memory }) => !filling.isDone(memory))
    const turns = await filling.turns(lane)
    memories = memories.map((memory, partition) => {
      const turn = turns.find((each) => each.partition === partition)
      return turn === undefined ? memory : after(memory, turn)
    })
    const told = Map.groupBy(
      turns.flatMap(({ partition, records: each }) => each.map((record) => ({ partition, record }))),
      ({ partition }) => partition,
    )
    return memories.map((_, partition) =>
      (told.get(partition) ?? []).map(
        ({ record: { target, key, value } }) => `${target}/${key}${value === null ? ' removed' : ''}`,
      ),
    )
  }
  async function toEnd(): Promise<string[][]> {
    const told = memories.map((): string[] => [])
    while (!memories.every((memory) => filling.isDone(memory))) {
      for (const [partition, each] of (await step()).entries()) told[partition]?.push(...each)
    }
    return told
  }
  const begin = (all: readonly PartitionMemory[]) => {
    memories = all
  }
  return { filling, step, toEnd, begin, asked, records, memory: (partition = 0) => memories[partition] ?? nothingTold }
}

const seats = documentsTarget('seats')
const bookings = documentsTarget('bookings')

it('goes on from where the read models were at first, with what is parked, and forgets what waited before', async () => {
  const { step, begin, memory } = openFilling({
    parked: [
      { next: 10, items: { 1: parkedAt(4) } },
      { next: 20, items: { 2: parkedAt(6) } },
    ],
  })
  begin([
    {
      ...nothingTold,
      next: 3,
      told: 7,
      waiting: new Map([
        ['1', 2],
        ['9', 1],
      ]),
      filled: { projections: 'before' },
    },
  ])
  await step()
  const filled = { projections: 'now', copying: { set: 'seats', after: 0 } }
  expect(memory()).toEqual({
    ...{ next: 10, last: checkpointAt(10).last, told: 7, filled },
    waiting: new Map([
      ['1', 4],
      ['2', 6],
    ]),
  })
})

it('copies every collection, and of what is removed what the home of streams had', async () => {
  const rows = [
    { 7: rowOf(true), 8: rowOf(false) },
    { 9: rowOf(true), 'lounges/3': rowOf(true) },
  ]
  const { toEnd, asked, memory } = openFilling({
    documents: { seats: { 1: jsonOf(1) }, bookings: { 5: jsonOf(5) } },
    rows,
  })
  expect(await toEnd()).toEqual([[`${seats}/1`, `${bookings}/5`, `${seats}/7 removed`, `${seats}/9 removed`]])
  expect(memory()).toMatchObject({ told: 4, filled: { projections: 'now', copying: undefined } })
  expect(asked.every(({ offsets }) => offsets.join() === '9')).toBe(true)
})

it('copies each kind of streams under its record keys, each in the partition of its key', async () => {
  const { toEnd } = openFilling(
    {
      partitions: 2,
      documents: { seats: { 1: jsonOf(1), 2: jsonOf(2) }, halls: { 1: jsonOf(1), 2: jsonOf(2) } },
      rows: [{ 7: rowOf(true), 'halls/7': rowOf(true), 'halls/8': rowOf(false), 'halls/007': rowOf(true) }],
    },
    'now',
    twoKinds.names,
  )
  const halls = documentsTarget('halls')
  const [even = [], odd = []] = await toEnd()
  expect(even).toEqual([`${seats}/2`, `${halls}/halls/1`, `${halls}/halls/7 removed`])
  expect(odd).toEqual([`${seats}/1`, `${halls}/halls/2`, `${seats}/7 removed`])
})

it('leaves out a document that is too large, and one that is removed meanwhile, and goes on', async () => {
  const large = jsonOf(2, documentMax)
  const { toEnd, records } = openFilling({
    documents: { seats: { 1: jsonOf(1), 2: large, 3: jsonOf(3), 4: jsonOf(4) } },
    leaving: ['3'],
  })
  expect(await toEnd()).toEqual([[`${seats}/1`, `${seats}/4`]])
  expect(records.leftOut).toBe(1)
  expect(records.warnings).toMatchObject([{ code: 'document_left_out', message: expect.stringContaining('seats 2') }])
})

it('tells no more characters at once than it may, and one document at least', async () => {
  const documents = {
    seats: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [i + 1, jsonOf(i + 1, documentMax - 100)])),
  }
  const { step, toEnd } = openFilling({ documents })
  await step()
  expect((await step())[0]).toHaveLength(15)
  expect((await toEnd())[0]).toHaveLength(25)
  const alone = openFilling({ documents: { seats: { 1: jsonOf(1, 5_000_000), 2: jsonOf(2) } } })
  expect(await alone.toEnd()).toEqual([[`${seats}/2`]])
})

it('copies for all partitions at once, from where the one is that is least far, and tells none of it twice', async () => {
  const ids = Array.from({ length: 1200 }, (_, i) => i + 1)
  const all = Object.fromEntries(ids.map((id) => [id, jsonOf(id)]))
  const { step, toEnd, begin } = openFilling({ partitions: 2, documents: { seats: all, bookings: { 5: jsonOf(5) } } })
  const copying = { projections: 'now', copying: { set: 'seats', after: 700 } }
  begin([{ ...nothingTold, next: 10, filled: copying }, nothingTold])
  expect(await step()).toEqual([[], []])
  const [even = [], odd = []] = await toEnd()
  expect(even).toEqual(ids.filter((id) => id > 700 && id % 2 === 0).map((id) => `${seats}/${id}`))
  expect(odd).toEqual([...ids.filter((id) => id % 2 === 1).map((id) => `${seats}/${id}`), `${bookings}/5`])
})

it('walks through the rows anew where their read models are replaced meanwhile', async () => {
  const replaced = new ServiceError('read_model_rebuilding', 'another generation')
  const { step, toEnd } = openFilling({ rows: [{ 1: rowOf(true) }, replaced, { 2: rowOf(true) }] })
  for (const told of [[], [], [], [`${seats}/1 removed`]]) expect(await step()).toEqual([told])
  await expect(step()).rejects.toBe(replaced)
  expect(await toEnd()).toEqual([[`${seats}/1 removed`, `${seats}/2 removed`]])
})

it('is not done where other projections made what is told', () => {
  const { filling } = openFilling({})
  const memoryOf = (filled: PartitionMemory['filled']) => ({ ...nothingTold, filled })
  expect(filling.isDone(memoryOf(undefined))).toBe(false)
  expect(filling.isDone(memoryOf({ projections: 'before' }))).toBe(false)
  expect(filling.isDone(memoryOf({ projections: 'now', copying: { set: 'seats', after: 0 } }))).toBe(false)
  expect(filling.isDone(memoryOf({ projections: 'now' }))).toBe(true)
})
