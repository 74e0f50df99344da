import { pino } from 'pino'
import { expect } from 'vitest'
import type { StreamKinds } from '../../../src/engine/definition/kinds.ts'
import type { LogRecord, Offset } from '../../../src/engine/log/event-log.ts'
import { Applier } from '../../../src/engine/projector/applier.ts'
import { isTextSet, setName, type TextSet, textSets } from '../../../src/engine/read-models/document.ts'
import type { Item } from '../../../src/engine/read-models/ports/inspection.ts'
import type { ProjectionStore } from '../../../src/engine/read-models/ports/projection.ts'
import type { Proof } from '../../../src/engine/read-models/ports/reads.ts'
import type { ReadModelStore } from '../../../src/engine/read-models/ports/store.ts'
import type { ReadModel } from '../../../src/engine/read-models/read-model.ts'
import {
  type Checkpoint,
  decodeIdempotencyRecord,
  decodeOffsets,
  decodeParkedStream,
  noRecords,
  startOfPartition,
} from '../../../src/engine/read-models/stored-texts.ts'
import { entryOf } from '../../../src/engine/testing/memory/memory-data.ts'
import { itemsIn } from '../read-models/contract/samples.ts'
import { memoryReadModels } from '../read-models/memory-read-models.ts'
import { theatre } from '../theatre/theatre.ts'
import { type AnyRecord, logOf } from './records.ts'

export const logger = pino({ level: 'silent' })

/** Read models of partition 0 in memory, to which records are applied without a log and a projector. */
export async function openProjection(
  partitionFor: (key: string) => number = () => 0,
  definition: StreamKinds = theatre,
) {
  const store = memoryReadModels(undefined, undefined, definition.names)
  await store.generations.start({ name: 'generation', logId: 'log' }, undefined)
  const applied: LogRecord[] = []
  const log = {
    partitionFor,
    endOffsets: async () => [applied.length],
    async read(_: number, from: Offset, limit: number) {
      const records = applied.slice(from, from + limit)
      return { records, next: from + records.length }
    },
  }
  const newApplier = () => new Applier({ store: exact(store), definition, log, logger })
  let checkpoint: Checkpoint = startOfPartition

  /** In batches that end at the cuts: offsets among the records. */
  async function apply(records: readonly AnyRecord[], cuts: readonly Offset[] = []): Promise<void> {
    const first = applied.length
    applied.push(...logOf(records, first))
    const ends = [...cuts.map((cut) => first + cut), applied.length].sort((a, b) => a - b)
    let from = first
    for (const next of ends.filter((end) => end > first && end <= applied.length)) {
      const batch = { partition: 0, from, records: applied.slice(from, next), next }
      const reached = await newApplier().apply('generation', checkpoint, batch)
      if (reached === undefined) throw new Error(`the batch from ${from} to ${next} is refused`)
      ;[checkpoint, from] = [reached, next]
    }
  }
  const answer = async <T extends { readonly proof: Proof }>(asked: Promise<T>) => {
    const { proof, ...found } = await asked
    return { ...found, reached: [proof.checkpoints] }
  }
  const { reads } = store
  /** The read model of what is applied. */
  const readModel: Pick<ReadModel, 'find' | 'page' | 'count' | 'load' | 'generationOf'> = {
    find: (document) => answer(reads.find('generation', document)),
    page: (query) => answer(reads.page('generation', query)),
    count: (query) => answer(reads.count('generation', query)),
    load: (query) => answer(reads.load('generation', query)),
    generationOf: () => 'generation',
  }
  return { store, log, readModel, apply, counts: () => checkpoint.counts, read: () => everything(store) }
}

/** Holds each batch to what is stored: a store takes out exactly the entries that it is told were there. */
function exact({ projection, inspection }: ReadModelStore): ProjectionStore {
  return {
    load: (...request) => projection.load(...request),
    async apply(generation, batch) {
      for (const { before } of batch.documents) {
        if (before === undefined) continue
        const { collection, id, json, behind, indexKeys } = before
        const copies = indexKeys.map((key) => [setName(collection, key), String(entryOf(key, id)), json] as const)
        for (const [set, entry, text] of [[collection, String(id), `${json}\0${behind}`] as const, ...copies])
          expect(await inspection.find(generation, set, [entry])).toMatchObject({ texts: [text] })
      }
      return await projection.apply(generation, batch)
    },
  }
}

export async function project(
  records: readonly AnyRecord[],
  cuts: readonly Offset[] = [],
  definition: StreamKinds = theatre,
) {
  const projection = await openProjection(undefined, definition)
  await projection.apply(records, cuts)
  return projection
}

/** Which counts went up with each record, in a batch for each. */
export async function outcomesOf(
  records: readonly AnyRecord[],
  partitionFor?: (key: string) => number,
  definition?: StreamKinds,
) {
  const { apply, counts } = await openProjection(partitionFor, definition)
  const names = Object.keys(noRecords) as (keyof typeof noRecords)[]
  const outcomes: string[] = []
  for (const each of records) {
    const before = counts()
    await apply([each])
    const added = names.flatMap((name) => Array(Math.max(0, counts()[name] - before[name])).fill(name))
    outcomes.push(added.join(' '))
  }
  return outcomes
}

/** Everything there is in the active generation, with every set as large as recorded. */
export async function everything({ generations, inspection }: ReadModelStore) {
  const name = (await generations.active())?.name ?? ''
  const found = await inspection.contents(name)
  if (found === undefined) throw new Error('no generation is active')
  for (const [set, { actual, recorded }] of found.sizes) expect([set, actual]).toEqual([set, recorded])
  const sizes = [...found.sizes].flatMap(([set, { actual }]) => (actual === 0 ? [] : [[set, actual] as const])).sort()
  const items = async (set: string) => [...(await itemsIn({ inspection }, name, set))].sort()
  const documentSets = sizes.map(([set]) => set).filter((set) => !isTextSet(set))
  const keys = (await items('keys')).map(([id, text]) => {
    return decodeIdempotencyRecord({ partition: 0, key: id.slice('0/'.length) }, text)
  })
  const texts: Record<string, readonly Item[]> = {}
  for (const set of textSets) texts[set] = await items(set)
  return {
    sizes,
    documents: Object.fromEntries(await Promise.all(documentSets.map(async (set) => [set, await items(set)] as const))),
    ...(texts as Record<TextSet, readonly Item[]>),
    keys,
    checkpoints: found.snapshot.checkpoints,
  }
}

/** Every parked event, in order of offset; of those that wait behind another one the reason is undefined. */
export function parkedIn({ parked, waiting }: Pick<Everything, 'parked' | 'waiting'>) {
  const first = parked.map(([stream, text]) => {
    const { first: offset, reason } = decodeParkedStream(stream, text)
    return { stream, offset, reason }
  })
  const behind = waiting.flatMap(([id, text]) => {
    const stream = id.slice(id.indexOf('/') + 1)
    return decodeOffsets(text).map((offset) => ({ stream, offset, reason: undefined }))
  })
  return [...first, ...behind].sort((a, b) => a.offset - b.offset)
}

type Everything = Awaited<ReturnType<typeof everything>>

/** The documents of a collection, by id. */
export function documentsOf({ documents }: Everything, collection: string): Record<number, Record<string, unknown>> {
  const entries = documents[collection] ?? []
  return Object.fromEntries(entries.map(([id, text]) => [id, JSON.parse(text.split('\0')[0] ?? '')]))
}

/** What tests of the rules look at. */
export function summary(found: Everything) {
  const statuses = (collection: string) =>
    Object.fromEntries(Object.entries(documentsOf(found, collection)).map(([id, { status }]) => [id, status]))
  const rows = [
    ...(found.documents.seats ?? []).map(([id, text]): [string, string] => [id, text.split('\0')[1] ?? '']),
    ...found.rows,
  ]
  return {
    seats: statuses('seats'),
    bookings: statuses('bookings'),
    versions: Object.fromEntries(rows.map(([stream, row]) => [stream, Number.parseInt(row, 10)])),
    parked: Object.fromEntries(parkedIn(found).map(({ offset, reason }) => [offset, reason])),
    keys: Object.fromEntries(found.keys.map(({ key, offset }) => [key, offset])),
  }
}
