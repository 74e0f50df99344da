import { timeOfDay } from '../../lib/clock.ts'
import { type Checkpoint, encodeCheckpoint, startOfPartition } from '../checkpoint.ts'
import { type DocumentId, type otherSets, setName } from '../document.ts'
import { encodeIdempotencyRecord } from '../idempotency-record.ts'
import type { Listeners } from '../listeners.ts'
import type { ParkedEvent } from '../parked-event.ts'
import type {
  ApplyResult,
  Batch,
  DocumentPut,
  LoadRequest,
  PartitionState,
  ProjectionStore,
} from '../projection-store.ts'
import { homeIdOf } from '../stream-row.ts'
import type { DocumentSet, SqliteDatabase } from './sqlite-database.ts'

const pauseMs = 300

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
  { partition, streams, keys, queues }: LoadRequest,
): PartitionState {
  const homeSet = database.documentSet(key, database.options.home)
  const rows = streams.map((stream) => [stream, database.row(key, homeSet, stream)] as const)
  const queueOf = (stream: string) =>
    database.all`
      SELECT partition, record_offset AS "offset", stream, reason, value FROM parked
      WHERE generation = ${key} AND stream = ${stream} ORDER BY record_offset` as unknown as ParkedEvent[]
  return {
    checkpoint: storedCheckpoint(database, key, partition),
    rows: new Map(rows.flatMap(([stream, row]) => (row === undefined ? [] : [[stream, row]]))),
    parkedStreams: new Set([...streams, ...queues].filter((stream) => database.hasParked(key, stream))),
    decidedKeys: new Set(keys.filter((each) => database.record(key, { key: each, partition }) !== undefined)),
    queues: new Map(queues.map((stream) => [stream, queueOf(stream)])),
  }
}

/** The caller keeps what this writes only if the outcome is `applied`. */
function applyBatch(database: SqliteDatabase, key: number, batch: Batch): ApplyResult {
  const { partition, expected, checkpoint } = batch
  if (encodeCheckpoint(storedCheckpoint(database, key, partition)) !== encodeCheckpoint(expected)) {
    return { outcome: 'checkpoint_mismatch' }
  }
  const streams = existingStreams(database, key, batch.newStreams)
  const documents = putDocuments(database, key, batch.documents)
  if (streams.length + documents.length > 0) return { outcome: 'exist', streams, documents }
  putRows(database, key, batch)
  decideKeys(database, key, batch)
  park(database, key, batch)
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
  const homeSet = database.documentSet(key, database.options.home)
  return streams.filter((stream) => {
    const id = homeIdOf(stream)
    if (id !== undefined && homeSet?.find(id) !== undefined) return true
    const found = database.get`
      SELECT 1 FROM stream_row WHERE generation = ${key} AND stream = ${stream}
      UNION ALL SELECT 1 FROM parked WHERE generation = ${key} AND stream = ${stream}`
    return found !== undefined
  })
}

/** The documents assumed to be new that exist. */
function putDocuments(database: SqliteDatabase, key: number, puts: Batch['documents']): DocumentId[] {
  const changed = new Map<string, ChangedSet>()
  const setFor = (name: string): ChangedSet => {
    const set = changed.get(name) ?? { documents: documentSetToFill(database, key, name), added: 0 }
    changed.set(name, set)
    return set
  }
  const refused = puts.filter((put) => !putDocument(put, setFor))
  for (const { documents, added } of changed.values()) {
    database.run`UPDATE collection SET size = size + ${added} WHERE key = ${documents.key}`
  }
  return refused.map(({ after: { collection, id } }) => ({ collection, id }))
}

interface ChangedSet {
  readonly documents: DocumentSet
  added: number
}

/** False if it was assumed to be new, but exists. */
function putDocument({ before, after }: DocumentPut, setFor: (name: string) => ChangedSet): boolean {
  const { collection, id, json, version, row = null, indexes } = after
  const whole = setFor(setName(collection))
  if (before === undefined) {
    if (whole.documents.insert.run(id, json, version, row).changes === 0) return false
    whole.added++
  } else whole.documents.put.run(id, json, version, row)
  for (const index of before?.indexes ?? []) {
    if (indexes.includes(index)) continue
    const left = setFor(setName(collection, index))
    left.documents.remove.run(id)
    left.added--
  }
  for (const index of indexes) {
    const isJoined = !before?.indexes.includes(index)
    if (!isJoined && before?.json === json) continue
    const covering = setFor(setName(collection, index))
    covering.documents.put.run(id, json, null, null)
    if (isJoined) covering.added++
  }
  return true
}

function documentSetToFill(database: SqliteDatabase, generation: number, name: string): DocumentSet {
  const found = database.documentSet(generation, name)
  if (found !== undefined) return found
  const { lastInsertRowid: key } = database.run`
    INSERT INTO collection (generation, name, size) VALUES (${generation}, ${name}, 0)`
  return database.createDocuments(Number(key))
}

function putRows(database: SqliteDatabase, key: number, { rows, rowsShown }: Batch): void {
  const added = rows.filter(({ stream }) => database.rowWithoutDocument(key, stream) === undefined)
  for (const { stream, row } of rows) {
    database.run`REPLACE INTO stream_row (generation, stream, row) VALUES (${key}, ${stream}, ${row})`
  }
  for (const stream of rowsShown) database.run`DELETE FROM stream_row WHERE generation = ${key} AND stream = ${stream}`
  resize(database, key, 'rows', added.length - rowsShown.length)
}

function decideKeys(database: SqliteDatabase, key: number, { keys }: Batch): void {
  for (const record of keys) {
    database.run`
      REPLACE INTO idempotency_key (generation, key, partition, record)
      VALUES (${key}, ${record.key}, ${record.partition}, ${encodeIdempotencyRecord(record)})`
  }
  resize(database, key, 'keys', keys.length)
}

function park(database: SqliteDatabase, key: number, { partition, parked, unparked }: Batch): void {
  const added = parked.filter(({ offset }) => !database.isParked(key, { partition, offset }))
  for (const { offset } of unparked) {
    database.run`DELETE FROM parked WHERE generation = ${key} AND partition = ${partition} AND record_offset = ${offset}`
  }
  for (const { offset, stream, reason, value } of parked) {
    database.run`
      REPLACE INTO parked (generation, partition, record_offset, stream, reason, value)
      VALUES (${key}, ${partition}, ${offset}, ${stream}, ${reason}, ${value})`
  }
  resize(database, key, 'parked', added.length - unparked.length)
}

function resize(database: SqliteDatabase, key: number, set: (typeof otherSets)[number], added: number): void {
  if (added === 0) return
  database.run`
    INSERT INTO other_set (generation, name, size) VALUES (${key}, ${set}, ${added})
    ON CONFLICT DO UPDATE SET size = size + excluded.size`
}
