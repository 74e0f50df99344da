import { hash, randomBytes } from 'node:crypto'
import { chownSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Static, Type } from 'typebox'
import { lockFile } from '../lib/file-lock.ts'
import { compileCheck } from '../lib/validation.ts'

/** What a key lets its holder do: read everything, add pets, place and change orders. */
export const scopes = ['read', 'write', 'orders'] as const
export type Scope = (typeof scopes)[number]

/** What is kept of an API key: never the key itself. */
const StoredKey = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    sha256: Type.String(),
    createdAt: Type.String(),
    /** The id of the owner's first key, if that is a different key. */
    owner: Type.Optional(Type.String()),
    /** Every scope if absent. */
    scopes: Type.Optional(Type.Array(Type.Enum(scopes))),
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
    throw new Error(`${path} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/** When a key expires, in milliseconds. A time that cannot be parsed counts as past. */
export function expiryOf({ expiresAt }: StoredKey): number {
  if (expiresAt === undefined) return Number.POSITIVE_INFINITY
  return Date.parse(expiresAt) || 0
}

/** Replaces the keys in the file, under a lock, unless `edit` returns what it was given. */
export function changeKeys(path: string, edit: (keys: readonly StoredKey[]) => readonly StoredKey[]): void {
  using lock = lockFile(`${path}.lock`, lockWaitMs)
  if (lock === undefined) throw new Error(`${path} is being changed by another process; try again.`)
  const before = readKeys(path) ?? []
  const after = edit(before)
  if (after !== before) replaceFile(path, `${JSON.stringify({ keys: after }, null, 2)}\n`)
}

/**
 * Readers see the old file or the new one, never a part. The new file keeps the owner and the mode of the old one. A
 * first file belongs to the owner of its folder, and only that user may read it.
 */
export function replaceFile(path: string, content: string): void {
  const before = statSync(path, { throwIfNoEntry: false })
  const { uid, gid } = before ?? statSync(dirname(path))
  // A name that nobody can guess, and a file that must not exist: otherwise a planted link would be written through.
  const next = `${path}.${randomBytes(8).toString('hex')}`
  try {
    writeFileSync(next, content, { mode: before === undefined ? 0o600 : before.mode & 0o777, flag: 'wx', flush: true })
    if (process.getuid?.() === 0) chownSync(next, uid, gid)
    renameSync(next, path)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  }
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
