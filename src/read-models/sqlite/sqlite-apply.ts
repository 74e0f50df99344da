import { type Checkpoint, decodeCheckpoint, encodeCheckpoint, startOfPartition } from '../checkpoint.ts'
import { encodeDecision } from '../key-decision.ts'
import type { ApplyResult, Batch } from '../read-models.ts'
import type { Table } from './sqlite-collections.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { collectionName } from './sqlite-tables.ts'

/** A collection that a batch adds to. */
interface Filled {
  readonly key: number
  readonly table: Table
  added: number
}

/** To be called in a transaction of which nothing is kept unless the outcome is `applied`. */
export function applyBatch(database: SqliteDatabase, key: number, batch: Batch): ApplyResult {
  const { statements } = database
  if (encodeCheckpoint(storedCheckpoint(database, key, batch.partition)) !== encodeCheckpoint(batch.expected)) {
    return { outcome: 'checkpoint_mismatch' }
  }
  const decided = batch.decisions.filter((decision) => statements.decision.get(key, decision.key) !== undefined)
  if (decided.length > 0) return { outcome: 'keys_decided', keys: decided.map((decision) => decision.key) }
  const tags = insertDocuments(database, key, batch)
  if (tags.size > 0) return { outcome: 'ids_taken', tags }
  for (const [name, added] of batch.counters) statements.count.run(key, name, added)
  park(database, key, batch)
  for (const decision of batch.decisions) statements.insertDecision.run(key, decision.key, encodeDecision(decision))
  statements.setCheckpoint.run(key, batch.partition, encodeCheckpoint(batch.checkpoint))
  return { outcome: 'applied' }
}

export function storedCheckpoint({ statements }: SqliteDatabase, key: number, partition: number): Checkpoint {
  const text = statements.checkpoint.get(key, partition)?.checkpoint as string | undefined
  return text === undefined ? startOfPartition : decodeCheckpoint(text)
}

/** The tags of the documents that were there before. */
function insertDocuments(database: SqliteDatabase, generation: number, { inserts }: Batch): Map<number, string> {
  const tags = new Map<number, string>()
  const filled = new Map<string, Filled>()
  const fill = (name: string, id: number, document: string, tag: string | null) => {
    const into = filled.get(name) ?? toFill(database, generation, name)
    filled.set(name, into)
    if (into.table.insert.run(id, document, tag).changes === 1) into.added++
    else if (tag !== null) tags.set(id, String(into.table.tag.get(id)?.tag))
  }
  for (const { id, document, tag, indexes } of inserts) {
    fill(collectionName(undefined), id, document, tag)
    for (const index of indexes) fill(collectionName(index), id, document, null)
  }
  for (const { key, added } of filled.values()) database.statements.addToCollection.run(added, key)
  return tags
}

function toFill({ statements, collections }: SqliteDatabase, generation: number, name: string): Filled {
  let key = statements.collectionKey.get(generation, name)?.key as number | undefined
  if (key === undefined) {
    key = Number(statements.insertCollection.run(generation, name).lastInsertRowid)
    collections.create(key)
  }
  return { key, table: collections.table(key), added: 0 }
}

function park({ statements }: SqliteDatabase, key: number, { partition, parked, unparked }: Batch): void {
  for (const offset of unparked) statements.unpark.run(key, partition, offset)
  for (const { offset, subject, reason, value } of parked) {
    statements.park.run(key, partition, offset, subject, reason, value)
  }
}
