import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * An exclusive lock on a file, held between processes and given up by the operating system when its holder dies,
 * however that happens: Node has no flock, SQLite does.
 */
export interface FileLock {
  release(): void
}

/** Undefined when another process still holds the lock after `waitMs`. Makes the file and its folders. */
export function lockFile(path: string, waitMs: number): FileLock | undefined {
  mkdirSync(dirname(path), { recursive: true })
  const database = new DatabaseSync(path, { timeout: waitMs })
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw error
  }
  return { release: () => database.close() }
}

const sqliteBusy = 5

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy
}
