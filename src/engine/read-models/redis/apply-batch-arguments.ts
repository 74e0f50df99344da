import { type DocumentId, type StoredDocument, textSets } from '../document.ts'
import type { Batch } from '../ports/projection.ts'
import { encodeCheckpoint, startOfPartition } from '../stored-texts.ts'
import type { StreamNames } from '../stream-names.ts'
import type { RedisKeys } from './redis-keys.ts'
import { progressMessage } from './redis-progress.ts'
import { changesOfSets, inOrder } from './set-changes.ts'

/** KEYS and ARGV of `apply-batch.lua`. Lists are joined into few long texts, which are the cheapest to write. */
export function applyBatchArguments(
  storeKeys: RedisKeys,
  generation: string,
  batch: Batch,
  names: StreamNames,
): { keys: string[]; args: (string | number)[] } {
  const { partition, expected, checkpoint, newStreams, withoutEffect } = batch
  const { checkpoints, sizes, set } = storeKeys.generation(generation)
  const ordered = inOrder(batch.documents)
  const { after, before, changed } = ordered
  const sets = changesOfSets(ordered)
  const expectedText = encodeCheckpoint(expected)
  return {
    keys: [
      ...[storeKeys.active, storeKeys.building, checkpoints, sizes],
      ...[...textSets, ...names.collections, ...sets.map(({ name }) => name)].map(set),
    ],
    args: [
      generation,
      partition,
      expectedText === start ? '' : expectedText,
      encodeCheckpoint(checkpoint),
      storeKeys.progress,
      progressMessage(generation, { partition, from: expected.next, next: checkpoint.next, withoutEffect }),
      newStreams.length === 0 ? '' : JSON.stringify(newStreams.map((stream) => stream.toWellFormed())),
      documentsToLookFor(batch, names).join(' '),
      names.collections.join(' '),
      after.length,
      after.map(documentText).join(''),
      before.length,
      before.map(documentText).join(''),
      changed,
      ...sets.flatMap(({ name, added, removed }) => [name, added.text, removed.text]),
      ...textSets.flatMap((set) => {
        const { put, removed } = batch.texts[set]
        return [2 * put.length, ...put.flat(), removed.length, ...removed]
      }),
    ],
  }
}

const start = encodeCheckpoint(startOfPartition)

/**
 * The documents that may show new streams, except those that are new and checked anyway: each with the place of its stream,
 * from 1.
 */
function documentsToLookFor({ newStreams, documents }: Batch, names: StreamNames): string[] {
  const created = new Set<string | undefined>()
  for (const { before, after } of documents) {
    if (before === undefined && after !== undefined) created.add(names.streamOf(after))
  }
  return newStreams.flatMap((stream, i) => {
    const document = created.has(stream) ? undefined : names.documentOf(stream)
    return document === undefined ? [] : `${placeOf(names, document)}:${i + 1}`
  })
}

/** Which of the collections of `names` has a document, from 1, and its id; of none the id 0, which no document has. */
export function placeOf({ collections }: StreamNames, document: DocumentId | undefined): string {
  return document === undefined ? '1:0' : `${collections.indexOf(document.collection) + 1}:${document.id}`
}

function documentText({ id, json, behind }: StoredDocument): string {
  if (json.includes('\0') || behind.includes('\0')) throw new RangeError('a document with a NUL')
  return `${id}\0${json}\0${behind}\0`
}
