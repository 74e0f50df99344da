import { hash, randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { type Static, Type } from 'typebox'
import { lockFile } from '../lib/file-lock.ts'
import { compileCheck } from '../lib/validation.ts'

const StoredKey = Type.Object(
  { id: Type.String(), name: Type.String(), sha256: Type.String(), createdAt: Type.String() },
  { additionalProperties: false },
)
const KeyFile = Type.Object({ keys: Type.Array(StoredKey) }, { additionalProperties: false })
const checkKeyFile = compileCheck(KeyFile)

/** What is kept of an API key: never the key itself. */
export type StoredKey = Static<typeof StoredKey>

const lockWaitMs = 5000

/** Keys have 256 random bits, so a plain hash is as hard to turn round as a slow one. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'base64url')
}

/** The keys in the file; undefined when there is no file. Throws an Error that names the file when it is not one of keys. */
export function readKeys(path: string): readonly StoredKey[] | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const content = parseJson(text, path)
  const problem = checkKeyFile(content)
  if (problem !== undefined) throw new Error(`${path} is not a file of API keys: ${problem}`)
  return (content as Static<typeof KeyFile>).keys
}

/** Makes a key, stores its hash and returns the key, which is nowhere else. */
export function issueKey(path: string, name: string, now: Date): { id: string; key: string } {
  const id = randomBytes(4).toString('hex')
  const key = `pk_${randomBytes(32).toString('base64url')}`
  change(path, (keys) => [...keys, { id, name, sha256: hashKey(key), createdAt: now.toISOString() }])
  return { id, key }
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

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${path} is not a file of API keys: ${(error as Error).message}`, { cause: error })
  }
}
