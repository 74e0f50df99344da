import { type Checkpoint, decodeCheckpoint, encodeCheckpoint, startOfPartition } from '../checkpoint.ts'
import { type DocumentId, type otherSets, setName } from '../document.ts'
import { encodeIdempotencyRecord } from '../idempotency-record.ts'
import type { ApplyResult, Batch, DocumentPut } from '../projection-store.ts'
import { homeIdOf } from '../stream-row.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import type { DocumentSet } from './sqlite-sets.ts'

/** To be called in a transaction of which nothing is kept unless the outcome is `applied`. */
export function applyBatch(database: SqliteDatabase, key: number, batch: Batch): ApplyResult {
  const { statements } = database
  if (encodeCheckpoint(storedCheckpoint(database, key, batch.partition)) !== encodeCheckpoint(batch.expected)) {
    return { outcome: 'checkpoint_mismatch' }
  }
  const streams = existingStreams(database, key, batch.newStreams)
  const documents = putDocuments(database, key, batch.documents)
  if (streams.length + documents.length > 0) return { outcome: 'exist', streams, documents }
  putRows(database, key, batch)
  decideKeys(database, key, batch)
  park(database, key, batch)
  statements.setCheckpoint.run(key, batch.partition, encodeCheckpoint(batch.checkpoint))
  return { outcome: 'applied' }
}

export function storedCheckpoint({ statements }: SqliteDatabase, key: number, partition: number): Checkpoint {
  const found = statements.checkpoint.get(key, partition)
  return found === undefined ? startOfPartition : decodeCheckpoint(String(found.checkpoint))
}

/** Those that a document shows, or that have a row or parked events. */
function existingStreams(database: SqliteDatabase, key: number, streams: Batch['newStreams']): string[] {
  const homeSet = database.documentSet(key, database.home)
  const isShown = (id: number | undefined) => id !== undefined && homeSet?.find(id) !== undefined
  const exists = (stream: string) => database.statements.streamExists.get(key, stream) !== undefined
  return streams.filter((stream) => isShown(homeIdOf(stream)) || exists(stream))
}

/** A set of documents that a batch changes. */
interface ChangedSet {
  readonly set: DocumentSet
  added: number
}

/** Those taken to be new that are there. */
function putDocuments(database: SqliteDatabase, key: number, puts: Batch['documents']): DocumentId[] {
  const changed = new Map<string, ChangedSet>()
  const setFor = (name: string): ChangedSet => {
    const set = changed.get(name) ?? { set: documentSetToFill(database, key, name), added: 0 }
    changed.set(name, set)
    return set
  }
  const existing = puts
    .filter((put) => !putDocument(put, setFor))
    .map(({ after: { collection, id } }) => ({ collection, id }))
  for (const { set, added } of changed.values()) database.statements.resizeCollection.run(added, set.key)
  return existing
}

/** False when it was taken to be new, and is there. */
function putDocument({ before, after }: DocumentPut, setFor: (name: string) => ChangedSet): boolean {
  const { collection, id, json, version, row = null, indexes } = after
  const whole = setFor(setName(collection))
  if (before === undefined) {
    if (whole.set.insert.run(id, json, version, row).changes === 0) return false
    whole.added++
  } else whole.set.put.run(id, json, version, row)
  for (const index of before?.indexes ?? []) {
    if (indexes.includes(index)) continue
    const left = setFor(setName(collection, index))
    left.set.remove.run(id)
    left.added--
  }
  for (const index of indexes) {
    const isJoined = !before?.indexes.includes(index)
    if (!isJoined && before?.json === json) continue
    const covering = setFor(setName(collection, index))
    covering.set.put.run(id, json, null, null)
    if (isJoined) covering.added++
  }
  return true
}

function documentSetToFill(database: SqliteDatabase, generation: number, name: string): DocumentSet {
  const found = database.documentSet(generation, name)
  if (found !== undefined) return found
  const key = Number(database.statements.insertCollection.run(generation, name).lastInsertRowid)
  database.documentSets.create(key)
  return database.documentSets.get(key)
}

function putRows(database: SqliteDatabase, key: number, { rows, rowsShown }: Batch): void {
  const { statements } = database
  const added = rows.filter(({ stream }) => statements.row.get(key, stream) === undefined)
  for (const { stream, row } of rows) statements.putRow.run(key, stream, row)
  for (const stream of rowsShown) statements.removeRow.run(key, stream)
  resize(database, key, 'rows', added.length - rowsShown.length)
}

function decideKeys(database: SqliteDatabase, key: number, { keys }: Batch): void {
  for (const record of keys) {
    database.statements.putKey.run(key, record.key, record.partition, encodeIdempotencyRecord(record))
  }
  resize(database, key, 'keys', keys.length)
}

function park(database: SqliteDatabase, key: number, { partition, parked, unparked }: Batch): void {
  const { statements } = database
  const added = parked.filter(({ offset }) => statements.parkedAt.get(key, partition, offset) === undefined)
  for (const { offset } of unparked) statements.unpark.run(key, partition, offset)
  for (const { offset, stream, reason, value } of parked) {
    statements.park.run(key, partition, offset, stream, reason, value)
  }
  resize(database, key, 'parked', added.length - unparked.length)
}

function resize({ statements }: SqliteDatabase, key: number, set: (typeof otherSets)[number], added: number): void {
  if (added !== 0) statements.resizeOtherSet.run(key, set, added)
}
