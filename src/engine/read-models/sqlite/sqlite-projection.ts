import { timeOfDay } from '../../lib/clock.ts'
import { byId } from '../by-id.ts'
import { type TextSet, textSets } from '../document.ts'
import type { Listeners } from '../listeners.ts'
import { loadedRows } from '../loaded-stream.ts'
import type {
  ApplyResult,
  Batch,
  LoadRequest,
  PartitionState,
  ProjectionStore,
  TextChanges,
} from '../ports/projection.ts'
import {
  type Checkpoint,
  decodeOffsets,
  decodeParkedStream,
  encodeCheckpoint,
  keyId,
  startOfPartition,
} from '../stored-texts.ts'
import type { DocumentSet } from './document-sets.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { changeDocuments } from './sqlite-documents.ts'

/** Longer than a step of a rebuild takes on a busy machine. */
const pauseMs = 1000

export function sqliteProjection(database: SqliteDatabase, listeners: Listeners): ProjectionStore {
  return {
    async load(generation, request) {
      return database.readGeneration(generation, (key) => loadPartition(database, key, request))
    },

    async apply(generation, batch) {
      let isActive = false
      const result = database.write(
        (): ApplyResult => {
          const found = database.generation(generation)
          if (found === undefined || found.state === 'replaced') return { outcome: 'generation_gone' }
          isActive = found.state === 'active'
          if (isActive && isWithin(pauseMs, found.paused)) return { outcome: 'later' }
          return applyBatch(database, found.key, batch)
        },
        ({ outcome }) => outcome === 'applied',
      )
      if (result.outcome === 'applied' && isActive) {
        const { partition, expected, checkpoint, withoutEffect } = batch
        listeners.progress(generation, { partition, from: expected.next, next: checkpoint.next, withoutEffect })
      }
      return result
    },
  }
}

/** False also if the clock was set back since then: a pause must not last forever. */
export function isWithin(ms: number, since: number): boolean {
  const passed = timeOfDay().getTime() - since
  return passed >= 0 && passed < ms
}

function loadPartition(
  database: SqliteDatabase,
  key: number,
  { partition, streams, keys, waiting }: LoadRequest,
): PartitionState {
  const setOf = setsOf(database, key)
  return {
    checkpoint: storedCheckpoint(database, key, partition),
    ...loadedRows(streams, (stream) => database.row(key, stream, setOf)),
    parked: byId(streams, (stream) => {
      const text = database.text(key, 'parked', stream)
      return text === undefined ? undefined : decodeParkedStream(stream, text)
    }),
    decidedKeys: new Set(
      keys.filter((each) => database.text(key, 'keys', keyId({ partition, key: each })) !== undefined),
    ),
    waiting: byId(waiting, (chunk) => {
      const text = database.text(key, 'waiting', chunk)
      return text === undefined ? undefined : decodeOffsets(text)
    }),
  }
}

/** The caller keeps what this writes only if the outcome is `applied`. */
function applyBatch(database: SqliteDatabase, key: number, batch: Batch): ApplyResult {
  const { partition, expected, checkpoint } = batch
  if (encodeCheckpoint(storedCheckpoint(database, key, partition)) !== encodeCheckpoint(expected)) {
    return { outcome: 'checkpoint_mismatch' }
  }
  const streams = existingStreams(database, key, batch.newStreams)
  const documents = changeDocuments(database, key, batch.documents)
  if (streams.length + documents.length > 0) return { outcome: 'exist', streams, documents }
  for (const set of textSets) changeTexts(database, key, set, batch.texts[set])
  database.run`
    REPLACE INTO checkpoint (generation, partition, checkpoint)
    VALUES (${key}, ${partition}, ${encodeCheckpoint(checkpoint)})`
  return { outcome: 'applied' }
}

function storedCheckpoint(database: SqliteDatabase, key: number, partition: number): Checkpoint {
  return database.checkpoints(key).get(partition) ?? startOfPartition
}

/** The streams that a document shows, or that have a row or parked events. */
function existingStreams(database: SqliteDatabase, key: number, streams: Batch['newStreams']): string[] {
  const setOf = setsOf(database, key)
  const hasTexts = hasText(database, key)
  return streams.filter((stream) => {
    const shown = database.options.names.documentOf(stream)
    const isShown = shown !== undefined && setOf(shown.collection)?.find(shown.id) !== undefined
    return isShown || (hasTexts && hasText(database, key, stream))
  })
}

/** Looks up each set once. */
function setsOf(database: SqliteDatabase, key: number): (collection: string) => DocumentSet | undefined {
  const { collections } = database.options.names
  const sets = new Map(
    collections.map((collection) => {
      const found = database.setKey(key, collection)
      return [collection, found === undefined ? undefined : database.documents(found)]
    }),
  )
  return (collection) => sets.get(collection)
}

/** Whether the stream, or without one any, has a row apart from a document, or parked events. */
function hasText(database: SqliteDatabase, key: number, stream?: string): boolean {
  const found =
    stream === undefined
      ? database.get`SELECT 1 FROM text WHERE generation = ${key} AND name IN ('rows', 'parked') LIMIT 1`
      : database.get`SELECT 1 FROM text WHERE generation = ${key} AND name IN ('rows', 'parked') AND id = ${stream}`
  return found !== undefined
}

function changeTexts(database: SqliteDatabase, key: number, set: TextSet, { put, removed }: TextChanges): void {
  let added = -removed.length
  for (const id of removed) database.run`DELETE FROM text WHERE generation = ${key} AND name = ${set} AND id = ${id}`
  for (const [id, text] of put) {
    const { changes } = database.run`
      INSERT INTO text (generation, name, id, text) VALUES (${key}, ${set}, ${id}, ${text}) ON CONFLICT DO NOTHING`
    if (Number(changes) > 0) added++
    else database.run`UPDATE text SET text = ${text} WHERE generation = ${key} AND name = ${set} AND id = ${id}`
  }
  if (added === 0) return
  database.run`
    INSERT INTO text_set (generation, name, size) VALUES (${key}, ${set}, ${added})
    ON CONFLICT DO UPDATE SET size = size + excluded.size`
}
