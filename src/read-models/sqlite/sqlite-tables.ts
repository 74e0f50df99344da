import type { DatabaseSync, StatementSync } from 'node:sqlite'

export const layoutVersion = 3

/** Every table. Rows of one generation carry its key, a small number in place of version and name. */
export const layout = `
  -- state: active, building or replaced; since: milliseconds since 1970
  CREATE TABLE generation (
    key INTEGER PRIMARY KEY, version TEXT NOT NULL, name TEXT NOT NULL, epoch TEXT NOT NULL,
    state TEXT NOT NULL, since INTEGER NOT NULL, continues TEXT, UNIQUE (version, name)
  ) STRICT;
  CREATE TABLE version (version TEXT PRIMARY KEY, renewed INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE checkpoint (
    generation INTEGER, partition INTEGER, checkpoint TEXT NOT NULL, PRIMARY KEY (generation, partition)
  ) STRICT, WITHOUT ROWID;
  -- The documents of a generation and each of its indexes; added: how many rows ever. The rows are in the table
  -- collection_<key>, where SQLite's own row id is the id of the document; tag is of documents only.
  CREATE TABLE collection (
    key INTEGER PRIMARY KEY, generation INTEGER NOT NULL, name TEXT NOT NULL, added INTEGER NOT NULL,
    UNIQUE (generation, name)
  ) STRICT;
  CREATE TABLE counter (
    generation INTEGER, name TEXT, count INTEGER NOT NULL, PRIMARY KEY (generation, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE parked (
    generation INTEGER, partition INTEGER, record_offset INTEGER,
    subject TEXT NOT NULL, reason TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (generation, partition, record_offset)
  ) STRICT, WITHOUT ROWID;
  -- key: idempotency key; decision: as \`encodeDecision\` writes it
  CREATE TABLE decision (
    generation INTEGER, key TEXT, decision TEXT NOT NULL, PRIMARY KEY (generation, key)
  ) STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${layoutVersion};`

/** What `collection.name` is for an index, or for all documents. */
export function collectionName(index: string | undefined): string {
  return index === undefined ? 'documents' : `index:${index}`
}

/** The tables with rows of a generation, besides those of its collections. */
export const tablesOfGeneration = ['checkpoint', 'counter', 'parked', 'decision', 'collection'] as const

export type Statements = ReturnType<typeof prepare>

/** Every statement, by name. */
export function prepare(db: DatabaseSync) {
  const sql = {
    inState: 'SELECT key, name, epoch, since, continues FROM generation WHERE version = ? AND state = ?',
    generations: 'SELECT key, name, epoch, state, since FROM generation WHERE version = ? ORDER BY state, since',
    generation: 'SELECT key, state FROM generation WHERE version = ? AND name = ?',
    insertGeneration:
      'INSERT INTO generation (version, name, epoch, state, since, continues) VALUES (?, ?, ?, ?, ?, NULL)',
    setState: 'UPDATE generation SET state = ?, since = ?, continues = ? WHERE key = ?',
    removeGeneration: 'DELETE FROM generation WHERE key = ?',
    renew: 'REPLACE INTO version (version, renewed) VALUES (?, ?)',
    versions: 'SELECT version, renewed FROM version ORDER BY version',
    removeVersion: 'DELETE FROM version WHERE version = ? AND renewed = ?',
    checkpoints: 'SELECT partition, checkpoint FROM checkpoint WHERE generation = ?',
    checkpoint: 'SELECT checkpoint FROM checkpoint WHERE generation = ? AND partition = ?',
    setCheckpoint: 'REPLACE INTO checkpoint (generation, partition, checkpoint) VALUES (?, ?, ?)',
    collections: 'SELECT name, key, added FROM collection WHERE generation = ?',
    collectionKey: 'SELECT key FROM collection WHERE generation = ? AND name = ?',
    insertCollection: 'INSERT INTO collection (generation, name, added) VALUES (?, ?, 0)',
    addToCollection: 'UPDATE collection SET added = added + ? WHERE key = ?',
    dataVersion: 'PRAGMA data_version',
    decision: 'SELECT decision FROM decision WHERE generation = ? AND key = ?',
    insertDecision: 'INSERT INTO decision (generation, key, decision) VALUES (?, ?, ?)',
    countDecisions: 'SELECT count(*) AS count FROM decision WHERE generation = ?',
    decisionsFrom: 'SELECT key, decision FROM decision WHERE generation = ? AND key > ? ORDER BY key LIMIT ?',
    count:
      'INSERT INTO counter (generation, name, count) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count',
    counters: 'SELECT name, count FROM counter WHERE generation = ?',
    countParked: 'SELECT count(*) AS count FROM parked WHERE generation = ?',
    parkedBehind:
      'SELECT partition, record_offset, subject, reason, value FROM parked WHERE generation = ? AND (partition, record_offset) > (?, ?) ORDER BY partition, record_offset LIMIT ?',
    parkedAt:
      'SELECT partition, record_offset, subject, reason, value FROM parked WHERE generation = ? AND partition = ? AND record_offset = ?',
    parkedUnder:
      'SELECT record_offset, subject, reason, value FROM parked WHERE generation = ? AND partition = ? AND subject = ? ORDER BY record_offset',
    unpark: 'DELETE FROM parked WHERE generation = ? AND partition = ? AND record_offset = ?',
    parkedSubjects: 'SELECT DISTINCT subject FROM parked WHERE generation = ? AND partition = ?',
    park: 'REPLACE INTO parked (generation, partition, record_offset, subject, reason, value) VALUES (?, ?, ?, ?, ?, ?)',
  }
  return Object.fromEntries(Object.entries(sql).map(([name, text]) => [name, db.prepare(text)])) as Record<
    keyof typeof sql,
    StatementSync
  >
}
