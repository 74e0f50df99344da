import { hash, randomBytes } from 'node:crypto'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import type { Logger } from 'pino'
import { type Static, Type } from 'typebox'
import { lockFile } from '../lib/file-lock.ts'
import { compileCheck } from '../lib/validation.ts'

/** What is kept of an API key: never the key itself. `owner`: the id of the first key of its owner, if that is another one. */
const StoredKey = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    sha256: Type.String(),
    createdAt: Type.String(),
    owner: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)
type StoredKey = Static<typeof StoredKey>
const checkKeyFile = compileCheck(Type.Object({ keys: Type.Array(StoredKey) }, { additionalProperties: false }))

const lockWaitMs = 5000
const lookEveryMs = 500

/** The keys in the file; undefined when there is no file. Throws an Error that names the file when it is not one of keys. */
export function readKeys(path: string): readonly StoredKey[] | undefined {
  const text = readText(path)
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

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export interface IssuedKey {
  readonly id: string
  readonly name: string
  /** It is nowhere else: only its hash is stored. */
  readonly key: string
}

export function issueKey(path: string, name: string, now: Date): IssuedKey {
  const issued = newKey(name)
  change(path, (keys) => [...keys, stored(issued, now)])
  return issued
}

/** Another key for the owner of the key `id`, which stays valid; undefined when there is none. */
export function rotateKey(path: string, id: string, now: Date): IssuedKey | undefined {
  let issued: IssuedKey | undefined
  change(path, (keys) => {
    const before = keys.find((key) => key.id === id)
    if (before === undefined) return keys
    issued = newKey(before.name)
    return [...keys, { ...stored(issued, now), owner: before.owner ?? id }]
  })
  return issued
}

function newKey(name: string): IssuedKey {
  return { id: randomBytes(4).toString('hex'), name, key: `pk_${randomBytes(32).toString('base64url')}` }
}

function stored({ id, name, key }: IssuedKey, now: Date): StoredKey {
  return { id, name, sha256: hashKey(key), createdAt: now.toISOString() }
}

/** Whether there was such a key. */
export function revokeKey(path: string, id: string): boolean {
  let found = false
  change(path, (keys) => {
    found = keys.some((key) => key.id === id)
    return keys.filter((key) => key.id !== id)
  })
  return found
}

function change(path: string, edit: (keys: readonly StoredKey[]) => readonly StoredKey[]): void {
  const lock = lockFile(`${path}.lock`, lockWaitMs)
  if (lock === undefined) throw new Error(`${path} is being changed by another process; try again.`)
  try {
    const keys = edit(readKeys(path) ?? [])
    writeFileSync(`${path}.new`, `${JSON.stringify({ keys }, null, 2)}\n`, { mode: 0o600, flush: true })
    renameSync(`${path}.new`, path) // readers see the old file or the new one, never a part
  } finally {
    lock.release()
  }
}

/** Keys have 256 random bits, so a plain hash is as hard to turn round as a slow one. */
function hashKey(key: string): string {
  return hash('sha256', key, 'base64url')
}

/** The keys that are valid now. */
export interface KeyRing {
  /** The id of the first key of whoever has this one; undefined when it is not valid. */
  ownerOf(key: string): string | undefined
  readonly size: number
  close(): void
}

/** The keys of the file, followed as it changes, and those given in plain text. Throws as `readKeys` does. */
export function openKeyRing(path: string, given: readonly string[], logger: Logger): KeyRing {
  const owners = given.map((key) => [hashKey(key), `given-${hashKey(key).slice(0, 8)}`] as const)
  const ownerIn = ({ sha256, id, owner = id }: StoredKey) => [sha256, owner] as const
  const read = () => new Map([...owners, ...(readKeys(path) ?? []).map(ownerIn)])
  let stamp = stampOf(path) // taken before the keys are read: a change in between is seen the next time
  let ownerByHash = read()

  function follow(): void {
    try {
      const newStamp = stampOf(path)
      if (newStamp === stamp) return
      stamp = newStamp
      ownerByHash = read()
      logger.info({ keys: ownerByHash.size }, 'API keys read again')
    } catch (error) {
      logger.error({ err: error }, 'API keys left as they were: the file cannot be read')
    }
  }
  // Looking at intervals sees every kind of change, also where files are replaced or mounted. The watchFile of Node does
  // so too, but compares with what it finds some time after it was called.
  const timer = setInterval(follow, lookEveryMs).unref()
  return {
    ownerOf: (key) => ownerByHash.get(hashKey(key)),
    get size() {
      return ownerByHash.size
    },
    close: () => clearInterval(timer),
  }
}

/** Another one after each change of the file. Why it cannot be looked at is one as well: reading it tells of that. */
function stampOf(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
    return [ino, size, mtimeNs, ctimeNs].join(' ')
  } catch (error) {
    return String(error)
  }
}
