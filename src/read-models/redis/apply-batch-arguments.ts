import { type Checkpoint, encodeCheckpoint, startOfPartition } from '../checkpoint.ts'
import type { StoredDocument } from '../document.ts'
import { encodeIdempotencyRecord } from '../idempotency-record.ts'
import { encodeParkedEvent, type ParkedEvent, parkedId } from '../parked-event.ts'
import type { Batch } from '../projection-store.ts'
import { homeIdOf } from '../stream-row.ts'
import { type DocumentChanges, documentChanges } from './document-changes.ts'
import { progressMessage } from './progress-message.ts'
import { keyField, type RedisKeys } from './redis-keys.ts'

/** KEYS and ARGV of `apply-batch.lua`: in few and long texts where there are many, which cost least to write. */
export function applyBatchArguments(
  storeKeys: RedisKeys,
  generation: string,
  batch: Batch,
  home: string,
): { keys: string[]; args: (string | number)[] } {
  const { partition, expected, checkpoint, newStreams, withoutEffect } = batch
  const keys = storeKeys.generation(generation)
  const changes = documentChanges(batch.documents)
  const progress = { partition, from: expected.next, next: checkpoint.next, withoutEffect }
  return {
    keys: [
      storeKeys.active,
      storeKeys.building,
      keys.checkpoints,
      keys.sizes,
      keys.set(home),
      keys.rows,
      keys.keys,
      keys.parked,
      keys.parkedQueue,
      keys.parkedStreams,
      ...changes.sets.map(({ name }) => keys.set(name)),
    ],
    args: [
      generation,
      partition,
      storedText(expected),
      encodeCheckpoint(checkpoint),
      storeKeys.progress,
      progressMessage(generation, progress),
      newStreams.length === 0 ? '' : JSON.stringify(newStreams.map((stream) => stream.toWellFormed())),
      idsToLookFor(batch, home).join(' '),
      changes.created.map(({ set, first, last }) => `${set} ${first} ${last} `).join(''),
      changes.after.length,
      changes.after.map(documentText).join(''),
      changes.before.length,
      changes.before.map(documentText).join(''),
      ...setArguments(changes),
      ...lists(batch).flatMap((list) => [list.length, ...list]),
    ],
  }
}

const start = encodeCheckpoint(startOfPartition)

function storedText(checkpoint: Checkpoint): string {
  const text = encodeCheckpoint(checkpoint)
  return text === start ? '' : text
}

/** The ids of new streams that a document may show, without those whose new document is looked for anyway. */
function idsToLookFor({ newStreams, documents }: Batch, home: string): number[] {
  const created = new Set<string>()
  for (const { before, after } of documents) {
    if (before === undefined && after.collection === home) created.add(String(after.id))
  }
  return newStreams.filter((stream) => !created.has(stream)).flatMap((stream) => homeIdOf(stream) ?? [])
}

function documentText({ id, json, version, row = '' }: StoredDocument): string {
  if (json.includes('\0') || row.includes('\0')) throw new RangeError('a document with a NUL')
  return `${id}\0${json}\0${version}\0${row}\0`
}

function setArguments({ sets, after, before }: DocumentChanges): (string | number)[] {
  return sets.flatMap(({ name, isWhole, added, removed }) => [
    name,
    added.length - removed.length,
    isWhole ? 1 : 0,
    marks(added, after.length),
    marks(removed, before.length),
  ])
}

/** A 1 in each of these places, and a 0 in the others. */
function marks(places: readonly number[], length: number): string {
  const marked = Buffer.alloc(length, '0')
  for (const place of places) marked[place] = 0x31
  return marked.toString('latin1')
}

function lists({ rows, rowsShown, keys, parked, unparked, partition }: Batch): (string | number)[][] {
  return [
    rows.flatMap(({ stream, row }) => [stream, row]),
    [...rowsShown],
    keys.flatMap((record) => [keyField(record), encodeIdempotencyRecord(record)]),
    parked.flatMap((event) => [parkedId(event), encodeParkedEvent(event), queueMember(event), event.stream]),
    unparked
      .map((event) => ({ partition, ...event }))
      .flatMap((event) => [parkedId(event), queueMember(event), event.stream]),
  ]
}

/** The member of the parked queue. */
function queueMember({ partition, stream, offset }: Pick<ParkedEvent, 'partition' | 'stream' | 'offset'>): string {
  return `${stream}\0${String(offset).padStart(16, '0')}/${partition}`
}
