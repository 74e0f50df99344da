import { closeSync, fchmodSync, fchownSync, fstatSync, lstatSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeFolder } from './durable-files.ts'
import { withSqliteReason } from './errors/file-errors.ts'

const sqliteBusy = 5

/**
 * An exclusive lock on a file, between processes, until it is disposed of. The operating system releases it when its
 * holder dies, however that happens. It uses SQLite, since Node has no flock. Undefined if another process still holds
 * the lock after `waitMs`. Creates the file and its folders for its user alone, because anybody who can open the file
 * can hold the lock.
 */
export function lockFile(path: string, waitMs: number): Disposable | undefined {
  makeFolder(dirname(path))
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Error(`${path} is a symbolic link: remove it`)
  makeOwn(path)
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path, { timeout: waitMs })
    database.exec('BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database?.close()
    if ((error as { errcode?: number }).errcode === sqliteBusy) return undefined
    throw withSqliteReason(error, path, 'remove it')
  }
}

/** Creates a file that only the owner of its folder can read, as far as this user may set that. */
function makeOwn(path: string): void {
  const { uid, gid } = statSync(dirname(path))
  const file = openSync(path, 'a', 0o600)
  try {
    if (process.getuid?.() === 0) fchownSync(file, uid, gid)
    if (fstatSync(file).uid === process.getuid?.()) fchmodSync(file, 0o600)
  } finally {
    closeSync(file)
  }
}
