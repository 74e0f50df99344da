import { DatabaseSync } from 'node:sqlite'
import { OutOfReachError } from '../../lib/errors/errors.ts'
import { withSqliteReason } from '../../lib/errors/file-errors.ts'

/** Raised with any change of the tables. What stands in them is `storedLayout`. */
export const layoutVersion = 5

export function tableOf(key: number): string {
  return `collection_${key}`
}

/** SQLite's own row id is the id of the document; behind is of whole collections only. */
export const documentColumns = '(id INTEGER PRIMARY KEY, json TEXT NOT NULL, behind TEXT) STRICT'
/** The form of a keyed set. A key is `beginningOf`; SQLite compares texts by their bytes. */
export const keyedColumns = '(key TEXT, id INTEGER, json TEXT NOT NULL, PRIMARY KEY (key, id)) STRICT, WITHOUT ROWID'

/**
 * Every table. Rows of one generation carry its key, a small number instead of version and name. No key is ever reused:
 * a process that still remembers a removed generation must not find another one in its place.
 */
const layout = `
  -- state: active, building or replaced, or removed while some of it is left; since, paused (when \`apply\` last began to answer 'later'): milliseconds since 1970
  CREATE TABLE generation (
    key INTEGER PRIMARY KEY AUTOINCREMENT, version TEXT NOT NULL, name TEXT NOT NULL, log_id TEXT NOT NULL,
    state TEXT NOT NULL, since INTEGER NOT NULL, continues TEXT, paused INTEGER NOT NULL, UNIQUE (version, name)
  ) STRICT;
  CREATE TABLE version (version TEXT PRIMARY KEY, renewed INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE checkpoint (
    generation INTEGER, partition INTEGER, checkpoint TEXT NOT NULL, PRIMARY KEY (generation, partition)
  ) STRICT, WITHOUT ROWID;
  -- Sets of documents by \`setName\`, with their recorded sizes. The documents are in the table collection_<key>.
  CREATE TABLE collection (
    key INTEGER PRIMARY KEY AUTOINCREMENT, generation INTEGER NOT NULL, name TEXT NOT NULL, size INTEGER NOT NULL,
    UNIQUE (generation, name)
  ) STRICT;
  -- The sets of texts, by \`textSets\`, and their recorded sizes
  CREATE TABLE text (
    generation INTEGER, name TEXT, id TEXT, text TEXT NOT NULL, PRIMARY KEY (generation, name, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE text_set (
    generation INTEGER, name TEXT, size INTEGER NOT NULL, PRIMARY KEY (generation, name)
  ) STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${layoutVersion};`

/** Throws if the file cannot be used, or has another layout and `isOwner` is false. */
export function openFile(file: string, isOwner: boolean): DatabaseSync {
  // Another process holds the write lock for the length of one batch; waiting for it blocks this process.
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { timeout: 500 })
    // NORMAL: a power failure may lose the last batches, which the projector then applies again from the log.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    if (layoutOf(db) !== layoutVersion) layOut(db, isOwner)
    return db
  } catch (error) {
    db?.close()
    throw withSqliteReason(error, file, 'the service sets it aside, and builds it again from the log')
  }
}

function layoutOf(db: DatabaseSync): unknown {
  return db.prepare('PRAGMA user_version').get()?.user_version
}

/** Creates the tables, replacing those of another layout. The file stays, because another process may have it open. */
function layOut(db: DatabaseSync, isOwner: boolean): void {
  db.exec('BEGIN IMMEDIATE')
  const found = layoutOf(db)
  if (found !== layoutVersion) {
    if (found !== 0 && !isOwner) {
      throw new OutOfReachError(
        `The read models have layout ${found} of another release, not ${layoutVersion}: start the service of this release, which rebuilds them.`,
      )
    }
    const tables = db.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite|_%' ESCAPE '|'",
    )
    for (const { name } of tables.all()) db.exec(`DROP TABLE "${name}"`)
    db.exec(layout)
  }
  db.exec('COMMIT')
}

/** Tables that a file of this layout lacks. */
export function tablesMissing(db: DatabaseSync): readonly string[] {
  if (layoutOf(db) !== layoutVersion) return []
  const found = new Set(
    db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => name),
  )
  const fixed = [...layout.matchAll(/CREATE TABLE (\w+)/g)].map(([, name = '']) => name)
  const missing = fixed.filter((name) => !found.has(name))
  if (missing.length > 0) return missing
  const sets = db
    .prepare('SELECT key FROM collection')
    .all()
    .map(({ key }) => tableOf(Number(key)))
  return sets.filter((name) => !found.has(name))
}
