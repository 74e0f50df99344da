import { hash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Static, Type } from 'typebox'
import { fileBehind, isDiskFull, replaceFile } from '../lib/durable-files.ts'
import { withFileRemedy } from '../lib/errors/file-errors.ts'
import { lockFile } from '../lib/file-lock.ts'
import { compileCheck } from '../lib/values/validation.ts'

/** What is kept of an API key: never the key itself. */
const StoredKey = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    sha256: Type.String(),
    createdAt: Type.String(),
    /** The id of the owner's first key, if that is a different key. */
    owner: Type.Optional(Type.String()),
    /** What it lets its holder do; everything if absent. */
    scopes: Type.Optional(Type.Array(Type.String())),
    expiresAt: Type.Optional(Type.String()),
    /** Who issued it: a user of the operating system. */
    issuedBy: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)
export type StoredKey = Static<typeof StoredKey>
const checkKeyFile = compileCheck(Type.Object({ keys: Type.Array(StoredKey) }, { additionalProperties: false }))

const lockWaitMs = 5000

/** Keys have 256 random bits, so a fast hash is as hard to reverse as a slow one. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'base64url')
}

/**
 * The keys in the file; undefined if there is no file. Throws an Error that names the file if it is not a file of keys.
 */
export function readKeys(path: string): readonly StoredKey[] | undefined {
  const text = readIfThere(path)
  if (text === undefined) return undefined
  try {
    const content = JSON.parse(text)
    const problem = checkKeyFile(content)
    if (problem !== undefined) throw new Error(problem)
    return content.keys
  } catch (error) {
    throw new Error(`${path} is not a file of API keys: ${(error as Error).message}`)
  }
}

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`${path} cannot be read: ${withFileRemedy(error)}`, { cause: error })
  }
}

/** When a key expires, in milliseconds. A time that cannot be parsed counts as past. */
export function expiryOf({ expiresAt }: StoredKey): number {
  if (expiresAt === undefined) return Number.POSITIVE_INFINITY
  return Date.parse(expiresAt) || 0
}

type Edit = (keys: readonly StoredKey[]) => readonly StoredKey[]

/** Replaces the keys in the file, under a lock, and returns true, unless `edit` returns what it was given. */
export function changeKeys(path: string, edit: Edit): boolean {
  const file = fileBehind(path)
  readKeys(file) // a link to anything else gets no lock beside it
  try {
    return change(file, edit)
  } catch (error) {
    throw explained(error as NodeJS.ErrnoException, file)
  }
}

function change(file: string, edit: Edit): boolean {
  using lock = lockFile(`${file}.lock`, lockWaitMs)
  if (lock === undefined) throw new Error(`${file} is being changed by another process; try again.`)
  const before = readKeys(file) ?? []
  const after = edit(before)
  if (after === before) return false
  if ((statSync(file, { throwIfNoEntry: false })?.nlink ?? 1) > 1)
    throw new Error(`${file} has another name, which would keep the keys as they are: make that a symbolic link to it.`)
  replaceFile(file, `${JSON.stringify({ keys: after }, null, 2)}\n`)
  return true
}

/** What to do about it, where that is known. The keys are as before. */
function explained(error: NodeJS.ErrnoException, file: string): Error {
  const folder = dirname(file)
  const unwritable = `its folder ${folder} must be one that user ${process.getuid?.()} can write to`
  const mounted = `it is mounted by itself: mount the folder that it is in, and set API_KEYS_FILE to the file there`
  const remedies: Record<string, string> = {
    ...{ EACCES: unwritable, EPERM: unwritable, EROFS: unwritable },
    ...{ EBUSY: mounted, EXDEV: mounted },
  }
  const remedy = isDiskFull(error) ? `the disk of ${folder} is full: free some space` : remedies[error.code ?? '']
  if (remedy === undefined) return error
  return new Error(`${file} cannot be changed, and its keys are as before: ${remedy} (${error.message}).`, {
    cause: error,
  })
}

/** Why a server that runs as the owner of the folder cannot read the file; undefined if it can. */
export function whyUnreadable(path: string): string | undefined {
  const [file, folder] = [statSync(path), statSync(dirname(path))]
  const isReadable =
    file.uid === folder.uid || (file.mode & 0o004) !== 0 || (file.mode & 0o040 && file.gid === folder.gid)
  if (isReadable) return undefined
  return (
    `${path} belongs to user ${file.uid}, and its folder to user ${folder.uid}: ` +
    `a server that runs as user ${folder.uid} cannot read it. Run: chown ${folder.uid} ${path}`
  )
}
