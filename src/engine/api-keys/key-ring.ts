import { statSync } from 'node:fs'
import type { Logger } from 'pino'
import { auditTo } from '../lib/operating/audit.ts'
import { operatingScope } from '../lib/operating/operating-scope.ts'
import { hasChecksum } from './api-keys.ts'
import { expiryOf, hashKey, readKeys, type StoredKey } from './key-file.ts'
import { noteKeyUse } from './key-use.ts'

/** The client behind a valid key. */
export interface KeyHolder {
  readonly keyId: string
  /** The id of the owner's first key: it stays the same when keys are rotated. */
  readonly owner: string
  /** Undefined: every one, but for a stored key not `operatingScope`. */
  readonly scopes: ReadonlySet<string> | undefined
  /** Whether it has the scope `operatingScope`. */
  readonly operates?: boolean
}

/** The keys that are valid now. */
export type KeyRing = ReturnType<typeof openKeyRing>

interface RingOptions {
  readonly path: string
  /** Keys in plain text: they have every scope and never expire. */
  readonly given: readonly string[]
  readonly now: () => Date
  readonly logger: Logger
  /** How long the keys of a file that cannot be read stay valid, in milliseconds. */
  readonly unreadableMs?: number
}

type ValidKey = KeyHolder & { readonly isStored: boolean; readonly expiresAt: number }

const lookEveryMs = 500
/** With the looks above no more than ten a second, whatever keys strangers send. */
const lookAgainMs = 125
const logIntervalMs = 10_000

/** The keys of the file, kept up to date as it changes, and the keys given in plain text. Throws as `readKeys` does. */
export function openKeyRing({ path, given, now, logger, unreadableMs = 30_000 }: RingOptions) {
  const givenKeys = given.map((key): [string, ValidKey] => {
    const id = `given-${hashKey(key).slice(0, 8)}`
    return [
      hashKey(key),
      { keyId: id, owner: id, scopes: undefined, operates: true, isStored: false, expiresAt: Number.POSITIVE_INFINITY },
    ]
  })
  const audit = auditTo(logger)
  const use = noteKeyUse(path, now, logger)
  let stored: readonly StoredKey[] = []
  let byHash = new Map(givenKeys)
  let byId = new Map<string, ValidKey>()
  /** The state of the file before its last successful read. */
  let stamp = ''
  let readAt = performance.now()
  let lookedAt = readAt
  let nextLook: Promise<void> | undefined
  let wasThere = false
  let [loggedEffect, loggedAtMs] = ['', 0]

  function read(): void {
    const before = stampOf(path) // so a change during the read is seen by the next look
    if (before === stamp) {
      readAt = performance.now()
      return
    }
    expectLinked()
    const found = readKeys(path)
    if (found === undefined && wasThere) throw new Error(`${path} is gone: restore it, or issue keys anew`)
    const keys = found ?? []
    const isFirst = stamp === ''
    ;[stamp, readAt, loggedEffect] = [before, performance.now(), '']
    if (!isFirst) auditChanges(stored, keys)
    stored = keys
    take(keys)
  }

  function take(keys: readonly StoredKey[]): void {
    byHash = new Map([...keys.map((key) => [key.sha256, validKey(key)] as const), ...givenKeys])
    byId = new Map(byHash.values().map((key) => [key.keyId, key]))
  }

  /** A file that is mounted by itself stays the old one when it is replaced elsewhere: no folder has it any more. */
  function expectLinked(): void {
    const links = statSync(path, { throwIfNoEntry: false })?.nlink
    if (links === 0 && wasThere)
      throw new Error(
        `${path} was replaced elsewhere, which is not seen here: mount the folder that it is in, not the file`,
      )
    wasThere ||= links !== undefined && links > 0
  }

  function auditChanges(before: readonly StoredKey[], after: readonly StoredKey[]): void {
    const known = new Map(before.map((key) => [key.id, key]))
    for (const { id: keyId, name, owner, expiresAt, issuedBy } of after) {
      const old = known.get(keyId)
      const of = { keyId, name, expiresAt }
      if (old === undefined)
        audit(owner === undefined ? 'key issued' : 'key rotated', { ...of, owner, actor: issuedBy })
      else if (old.expiresAt !== expiresAt) audit('key will expire', of)
      known.delete(keyId)
    }
    for (const { id: keyId, name } of known.values()) audit('key revoked', { keyId, name })
  }

  function follow(): void {
    lookedAt = performance.now()
    try {
      read()
    } catch (error) {
      stamp = 'unreadable'
      const isRefused = performance.now() - readAt > unreadableMs
      if (isRefused) take([])
      const effect = isRefused ? 'its keys are refused' : `its keys stay valid for at most ${unreadableMs / 1000} s`
      if (effect === loggedEffect && performance.now() - loggedAtMs < logIntervalMs) return
      ;[loggedEffect, loggedAtMs] = [effect, performance.now()]
      logger.error({ err: error }, `the file of API keys cannot be read: ${effect}`)
    }
  }

  /** Undefined when the key is not valid. */
  function find(key: string): KeyHolder | undefined {
    const found = byHash.get(hashKey(key))
    if (found === undefined || found.expiresAt <= now().getTime()) return undefined
    if (found.isStored) use.note(found.keyId)
    return found
  }

  /**
   * As `find`, but a key that was issued before its request arrived is valid: an unknown one is refused only after a look
   * at the file since then. So many requests that arrived together wait for one look.
   */
  function findOrLook(
    key: string,
    arrivedAtMs = performance.now(),
  ): KeyHolder | undefined | Promise<KeyHolder | undefined> {
    const found = find(key)
    if (found !== undefined || lookedAt > arrivedAtMs || !hasChecksum(key)) return found
    nextLook ??= lookSoon()
    return nextLook.then(() => find(key))
  }

  async function lookSoon(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, lookedAt + lookAgainMs - performance.now())))
    nextLook = undefined
    follow()
  }

  read()
  // Polling sees every kind of change, even if files are replaced or mounted. `watchFile` of Node polls too, but
  // compares with a state that it reads some time after the call.
  const timer = setInterval(follow, lookEveryMs).unref()
  return {
    find,
    findOrLook,
    /** Whether a key that was found before is still valid. */
    isValid: (keyId: string) => (byId.get(keyId)?.expiresAt ?? 0) > now().getTime(),
    get size() {
      const time = now().getTime()
      return [...byHash.values()].filter(({ expiresAt }) => expiresAt > time).length
    },
    follow,
    close: () => {
      clearInterval(timer)
      use.close()
    },
  }
}

function validKey(key: StoredKey): ValidKey {
  const { id, owner = id, scopes } = key
  const operates = scopes?.includes(operatingScope) ?? false
  return { keyId: id, owner, scopes: scopes && new Set(scopes), operates, isStored: true, expiresAt: expiryOf(key) }
}

/**
 * Changes with each change of the file. The reason why the file cannot be looked at counts as a state too; reading it
 * then reports the error.
 */
function stampOf(path: string): string {
  try {
    const { ino, nlink, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
    return [ino, nlink, size, mtimeNs, ctimeNs].join(' ')
  } catch (error) {
    return String(error)
  }
}
