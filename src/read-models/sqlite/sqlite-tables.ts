import type { DatabaseSync, StatementSync } from 'node:sqlite'

export const layoutVersion = 4

/**
 * Every table. Rows of one generation carry its key, a small number in place of version and name. No key is used twice:
 * what still knows of a removed generation must not find another one in its place.
 */
export const layout = `
  -- state: active, building or replaced; since, paused (when \`apply\` last began to answer 'later'): milliseconds since 1970
  CREATE TABLE generation (
    key INTEGER PRIMARY KEY AUTOINCREMENT, version TEXT NOT NULL, name TEXT NOT NULL, log_id TEXT NOT NULL,
    state TEXT NOT NULL, since INTEGER NOT NULL, continues TEXT, paused INTEGER NOT NULL, UNIQUE (version, name)
  ) STRICT;
  CREATE TABLE version (version TEXT PRIMARY KEY, renewed INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE checkpoint (
    generation INTEGER, partition INTEGER, checkpoint TEXT NOT NULL, PRIMARY KEY (generation, partition)
  ) STRICT, WITHOUT ROWID;
  -- Sets of documents by \`setName\`, with their recorded sizes. The documents are in the table collection_<key>, where
  -- SQLite's own row id is the id of the document; version and row are of whole collections only.
  CREATE TABLE collection (
    key INTEGER PRIMARY KEY AUTOINCREMENT, generation INTEGER NOT NULL, name TEXT NOT NULL, size INTEGER NOT NULL,
    UNIQUE (generation, name)
  ) STRICT;
  -- The recorded sizes of the three sets below
  CREATE TABLE other_set (
    generation INTEGER, name TEXT, size INTEGER NOT NULL, PRIMARY KEY (generation, name)
  ) STRICT, WITHOUT ROWID;
  -- Streams that no document shows; row: as \`encodeRow\` writes it
  CREATE TABLE stream_row (
    generation INTEGER, stream TEXT, row TEXT NOT NULL, PRIMARY KEY (generation, stream)
  ) STRICT, WITHOUT ROWID;
  -- record: as \`encodeIdempotencyRecord\` writes it
  CREATE TABLE idempotency_key (
    generation INTEGER, key TEXT, partition INTEGER, record TEXT NOT NULL, PRIMARY KEY (generation, key, partition)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE parked (
    generation INTEGER, partition INTEGER, record_offset INTEGER,
    stream TEXT NOT NULL, reason TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (generation, partition, record_offset)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX parked_stream ON parked (generation, stream, record_offset);
  PRAGMA user_version = ${layoutVersion};`

/** The tables with rows of a generation, besides those of its sets of documents. */
export const tablesOfGeneration = [
  'checkpoint',
  'collection',
  'other_set',
  'stream_row',
  'idempotency_key',
  'parked',
] as const

export type Statements = ReturnType<typeof prepare>

/** Every statement, by name. */
export function prepare(db: DatabaseSync) {
  const parkedEvent = 'SELECT partition, record_offset AS "offset", stream, reason, value FROM parked'
  const sql = {
    dataVersion: 'PRAGMA data_version',

    inState: 'SELECT key, name, log_id AS logId, continues, paused FROM generation WHERE version = ? AND state = ?',
    generations:
      'SELECT key, name, log_id AS logId, state, since FROM generation WHERE version = ? ORDER BY state, since',
    generation: 'SELECT key, state, paused FROM generation WHERE version = ? AND name = ?',
    insertGeneration: 'INSERT INTO generation (version, name, log_id, state, since, paused) VALUES (?, ?, ?, ?, ?, 0)',
    setState: 'UPDATE generation SET state = ?, since = ?, continues = ? WHERE key = ?',
    pause: 'UPDATE generation SET paused = ? WHERE key = ?',
    removeGeneration: 'DELETE FROM generation WHERE key = ?',

    renew: 'REPLACE INTO version (version, renewed) VALUES (?, ?)',
    versions: 'SELECT version, renewed FROM version ORDER BY version',
    removeVersion: 'DELETE FROM version WHERE version = ? AND renewed = ?',

    checkpoints: 'SELECT partition, checkpoint FROM checkpoint WHERE generation = ?',
    checkpoint: 'SELECT checkpoint FROM checkpoint WHERE generation = ? AND partition = ?',
    setCheckpoint: 'REPLACE INTO checkpoint (generation, partition, checkpoint) VALUES (?, ?, ?)',

    collections: 'SELECT name, key, size FROM collection WHERE generation = ?',
    collection: 'SELECT key FROM collection WHERE generation = ? AND name = ?',
    insertCollection: 'INSERT INTO collection (generation, name, size) VALUES (?, ?, 0)',
    resizeCollection: 'UPDATE collection SET size = size + ? WHERE key = ?',
    otherSets: 'SELECT name, size FROM other_set WHERE generation = ?',
    resizeOtherSet:
      'INSERT INTO other_set (generation, name, size) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET size = size + excluded.size',

    streamExists:
      'SELECT 1 FROM stream_row WHERE generation = ?1 AND stream = ?2 UNION ALL SELECT 1 FROM parked WHERE generation = ?1 AND stream = ?2',
    row: 'SELECT row FROM stream_row WHERE generation = ? AND stream = ?',
    putRow: 'REPLACE INTO stream_row (generation, stream, row) VALUES (?, ?, ?)',
    removeRow: 'DELETE FROM stream_row WHERE generation = ? AND stream = ?',

    key: 'SELECT record FROM idempotency_key WHERE generation = ? AND key = ? AND partition = ?',
    putKey: 'REPLACE INTO idempotency_key (generation, key, partition, record) VALUES (?, ?, ?, ?)',

    hasParked: 'SELECT 1 FROM parked WHERE generation = ? AND stream = ? LIMIT 1',
    queue: `${parkedEvent} WHERE generation = ? AND stream = ? ORDER BY record_offset`,
    parkedAt: `${parkedEvent} WHERE generation = ? AND partition = ? AND record_offset = ?`,
    park: 'REPLACE INTO parked (generation, partition, record_offset, stream, reason, value) VALUES (?, ?, ?, ?, ?, ?)',
    unpark: 'DELETE FROM parked WHERE generation = ? AND partition = ? AND record_offset = ?',
  }
  return Object.fromEntries(Object.entries(sql).map(([name, text]) => [name, db.prepare(text)])) as Record<
    keyof typeof sql,
    StatementSync
  >
}
