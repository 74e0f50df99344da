import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'

/** The file that a path stands for: links are followed, so that a lock and a change concern all who have links to it. */
export function fileBehind(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  // Somebody else may have planted it, so that a file is made where only this user may make one.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Error(
      `${path} is a link to ${readlinkSync(path)}, which is not there: make that file, or remove the link`,
    )
  return path
}

/** Readers see the old file or the new one, never a part. The new one is on disk once this returns. */
export function replaceFile(path: string, content: string): void {
  const file = fileBehind(path)
  replace(file, content)
  try {
    sync(dirname(file))
  } catch (cause) {
    const problem = `${file} is changed, but may be the old one again after a power failure`
    throw new Error(`${problem}: ${(cause as Error).message}`, { cause })
  }
}

/**
 * The new file keeps the owner and the mode of the old one. A first file belongs to the owner of its folder, and only
 * that user may read it.
 */
function replace(file: string, content: string): void {
  const before = statSync(file, { throwIfNoEntry: false })
  const { uid, gid } = before ?? statSync(dirname(file))
  // A name that nobody can guess, and a file that must not exist: otherwise a planted link would be written through.
  const next = `${file}.${randomBytes(8).toString('hex')}`
  try {
    writeFileSync(next, content, { mode: 0o600, flag: 'wx', flush: true })
    if (before !== undefined) chmodSync(next, before.mode & 0o777) // whatever the umask is
    if (process.getuid?.() === 0) chownSync(next, uid, gid)
    renameSync(next, file)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  }
}

/** Makes a folder for its user alone, with those above it that are missing. They are on disk once this returns. */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  const shortest = resolve(first).length
  for (let made = resolve(path); made.length >= shortest; made = dirname(made)) sync(dirname(made))
}

/** What SQLite says: SQLITE_FULL and, about the memory that processes share, SQLITE_IOERR_SHMSIZE. */
const fullCodes = [13, 4874]

/** Whether Node or SQLite says so. */
export function isDiskFull(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: string }
  return fullCodes.includes(errcode ?? 0) || code === 'ENOSPC' || code === 'EDQUOT'
}

/** What was written to a file, or which files are in a folder, is on disk from now on. */
export function sync(path: string): void {
  const opened = openSync(path, 'r')
  try {
    fsyncSync(opened)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error // a file system that cannot do it with folders
  } finally {
    closeSync(opened)
  }
}
