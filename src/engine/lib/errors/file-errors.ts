import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Who needs the rights that are missing. */
export const user = () => `user ${process.getuid?.() ?? 'running this'}`

/** What to do about an error of a file system, by its code. */
const remedies: Readonly<Record<string, () => string>> = {
  EACCES: () => `give ${user()} the right to it and to the folders above it`,
  EPERM: () => `give ${user()} the right to it and to the folders above it`,
  EROFS: () => 'its file system can only be read: mount it for writing, or choose another folder',
  ENOENT: () => 'there is no such file or folder: correct the path, or make it',
  ENOTDIR: () => 'a part of its path is a file and not a folder: correct the path',
  EISDIR: () => 'it is a folder and not a file: correct the path, or move the folder away',
  EEXIST: () => 'something else is there: correct the path, or move it away',
  ELOOP: () => 'its symbolic links lead in a circle: correct them',
  ENAMETOOLONG: () => 'its name is too long: choose a shorter one',
  ENOSPC: () => 'its disk is full: free some space',
  EDQUOT: () => `the quota of ${user()} is used up: free some space`,
  EMFILE: () => 'this process has too many open files: raise ulimit -n',
  ENFILE: () => 'this machine has too many open files: raise fs.file-max',
  EIO: () => 'its disk fails: see the log of the operating system',
}

/** What an error of the file system says, with what to do about it where that is known. */
export function withFileRemedy(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const remedy = remedies[(error as NodeJS.ErrnoException).code ?? '']?.()
  return remedy === undefined ? error.message : `${error.message}: ${remedy}`
}

/** As `withFileRemedy`, for an error that may be any: only those of the file system name a path. */
export function toldOf(error: unknown): string {
  const isOfFile = error instanceof Error && 'path' in error && 'syscall' in error
  return isOfFile || !(error instanceof Error) ? withFileRemedy(error) : error.message
}

const damaged = [11, 26] // SQLITE_CORRUPT and SQLITE_NOTADB

/** Whether SQLite says that the file is damaged: not that it is busy, that the disk is full, or that a read failed. */
export function isDamagedFile(error: unknown): boolean {
  const { code, errcode = 0 } = error as NodeJS.ErrnoException & { errcode?: number }
  return code === 'ERR_SQLITE_ERROR' && damaged.includes(errcode & 0xff) // its lowest byte is the primary code
}

/**
 * The error of SQLite with the file and the reason: SQLite itself says no more than "unable to open database file".
 * What SQLite does not say, and every other error, stays as it is.
 */
export function withSqliteReason(cause: unknown, file: string, ifDamaged: string): unknown {
  const { code, errcode = 0, message } = cause as NodeJS.ErrnoException & { errcode?: number }
  if (code !== 'ERR_SQLITE_ERROR') return cause
  const reason = isDamagedFile(cause) ? ifDamaged : whyUnusable(file)
  const more = reason === undefined ? '' : `: ${reason}`
  return Object.assign(new Error(`${file} cannot be used (${message})${more}`, { cause }), { code, errcode })
}

function whyUnusable(file: string): string | undefined {
  const { R_OK, W_OK, X_OK } = constants
  try {
    if (!statSync(dirname(file)).isDirectory()) return remedies.ENOTDIR?.()
    accessSync(dirname(file), R_OK | W_OK | X_OK) // SQLite makes files beside it
    const found = statSync(file, { throwIfNoEntry: false })
    if (found?.isDirectory()) return remedies.EISDIR?.()
    if (found !== undefined) accessSync(file, R_OK | W_OK)
    return undefined
  } catch (error) {
    return withFileRemedy(error)
  }
}
