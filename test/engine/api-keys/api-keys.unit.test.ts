import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { issueKey, revokeKey, rotateKey } from '../../../src/engine/api-keys/api-keys.ts'
import { changeKeys, readKeys, type StoredKey, whyUnreadable } from '../../../src/engine/api-keys/key-file.ts'
import { openKeyRing } from '../../../src/engine/api-keys/key-ring.ts'
import { readKeyUse } from '../../../src/engine/api-keys/key-use.ts'
import { lockFile } from '../../../src/engine/lib/file-lock.ts'
import { captureLog } from '../../lib/captured-log.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'

const now = new Date('2026-11-20T12:00:00Z')
const inDays = (days: number) => new Date(now.getTime() + days * 86_400_000)
let folder: string
let path: string

beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder, 'keys', 'api-keys.json')
})

const issue = (name = 'somebody', more: object = {}) => issueKey(path, { service: 'theatre', name, ...more }, now)
const rotate = (id: string, more: object = {}) =>
  rotateKey(path, id, { service: 'theatre', ...more }, { now, overlapUntil: inDays(1) })

describe('the key file', () => {
  it('keeps a hash of an issued key, never the key, readable by its owner only', () => {
    const { id, key } = issue()
    expect(readKeys(path)).toMatchObject([{ id, name: 'somebody', createdAt: now.toISOString() }])
    expect(readFileSync(path, 'utf8')).not.toContain(key)
    expect([path, `${path}.lock`].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600])
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
  })

  it('issues different keys, which a scanner of secrets can tell, and revokes one of them', () => {
    const issued = [issue('a'), issue('b')]
    for (const { key } of issued) {
      expect(key).toMatch(/^theatre_[\w-]{43}[0-9a-f]{8}$/)
      expect(crc32(key.slice(0, -8))).toBe(Number.parseInt(key.slice(-8), 16))
    }
    expect(new Set(issued.map(({ key }) => key)).size).toBe(2)
    expect(revokeKey(path, issued[0]?.id ?? '')).toBe(true)
    expect(readKeys(path)?.map(({ name }) => name)).toEqual(['b'])
    expect(revokeKey(path, 'nobody')).toBe(false)
  })

  it('copies the scopes of a rotated key, and only ever brings the expiry of the old one forward', () => {
    const { id } = issue('partner', { scopes: ['read'], expiresAt: inDays(90) })
    const second = rotate(id, { expiresAt: inDays(180) })
    const third = rotate(second?.id ?? '', { name: 'renamed', scopes: ['write'] })
    rotateKey(path, id, { service: 'theatre' }, { now, overlapUntil: inDays(5) })
    const day = (days: number) => inDays(days).toISOString()
    expect(readKeys(path)).toMatchObject([
      { id, scopes: ['read'], expiresAt: day(1) },
      { id: second?.id, name: 'partner', scopes: ['read'], owner: id, expiresAt: day(1) },
      { id: third?.id, name: 'renamed', scopes: ['write'], owner: id },
      { owner: id },
    ])
    expect(readKeys(path)?.[2]).not.toHaveProperty('expiresAt')
    expect(rotate('nobody')).toBeUndefined()
  })

  it('is not written when there is no key to rotate or revoke: its absence says that no key was ever issued', () => {
    expect([rotate('nobody'), revokeKey(path, 'nobody'), readKeys(path)]).toEqual([undefined, false, undefined])
  })

  it('that is missing holds no keys; one that is no key file is refused by name', () => {
    expect(readKeys(path)).toBeUndefined()
    issue()
    for (const content of ['{"keys":', '[]', '{"keys":[{"id":1}]}']) {
      writeFileSync(path, content)
      expect(() => readKeys(path)).toThrow(path)
    }
  })

  it('is not changed while another process changes it', () => {
    const lock = lockFile(`${path}.lock`, 0)
    expect(lockFile(`${path}.lock`, 0)).toBeUndefined()
    lock?.[Symbol.dispose]()
    issue()
    expect(readKeys(path)).toHaveLength(1)
  })

  it('keeps its mode when it changes, leaves no temporary files, and is never written through a link', () => {
    issue()
    chmodSync(path, 0o640)
    const umask = process.umask(0o077) // as the service has
    onTestFinished(() => void process.umask(umask))
    const target = join(folder, 'target')
    writeFileSync(target, 'of somebody else')
    symlinkSync(target, `${path}.new`)
    issue()
    expect(statSync(path).mode & 0o777).toBe(0o640)
    expect(readdirSync(dirname(path)).sort()).toEqual(['api-keys.json', 'api-keys.json.lock', 'api-keys.json.new'])
    rmSync(path)
    symlinkSync(target, path)
    expect(() => issue()).toThrow('is not a file of API keys')
    expect(readFileSync(target, 'utf8')).toBe('of somebody else')
    expect(readdirSync(folder).sort()).toEqual(['keys', 'target'])
    rmSync(target)
    expect(() => issue()).toThrow(`${path} is a link to ${target}, which is not there`)
    expect(existsSync(target)).toBe(false)
    rmSync(path)
    rmSync(`${path}.lock`)
    symlinkSync(target, `${path}.lock`)
    expect(() => issue()).toThrow(`${path}.lock is a symbolic link`)
  })

  it.runIf(process.getuid?.() === 0)(
    'belongs to whom its folder belongs to, so that a server can read it',
    async () => {
      const { chownSync } = await import('node:fs')
      mkdirSync(dirname(path))
      chownSync(dirname(path), 1234, 1234)
      issue()
      expect([path, `${path}.lock`].map((file) => statSync(file).uid)).toEqual([1234, 1234])
      expect(whyUnreadable(path)).toBeUndefined()
      chownSync(path, 0, 0)
      issue()
      expect(statSync(path).uid).toBe(0)
      expect(whyUnreadable(path)).toMatch(/cannot read it. Run: chown 1234 /)
      chmodSync(path, 0o644)
      expect(whyUnreadable(path)).toBeUndefined()
    },
  )
})

describe('the key ring', () => {
  const { logger, lines } = captureLog('warn')
  beforeEach(() => void lines.splice(0))

  function open({ given = [] as string[], time = now, unreadableMs = 60_000 } = {}) {
    const ring = openKeyRing({ path, given, now: () => time, logger, unreadableMs })
    onTestFinished(() => ring.close())
    return ring
  }
  const patience = { timeout: 5000 }

  it('knows the keys of the file and those given, and follows the file', async () => {
    const ring = open({ given: ['plain'] })
    expect(ring.find('plain')?.owner).toMatch(/^given-/)
    expect(ring.find('other')).toBeUndefined()
    const { id, key } = issue()
    await vi.waitFor(() => expect(ring.find(key)).toMatchObject({ keyId: id, owner: id }), patience)
    revokeKey(path, id)
    await vi.waitFor(() => expect(ring.find(key)).toBeUndefined(), patience)
    expect(ring.find('plain')).toMatchObject({ scopes: undefined }) // all of them
  })

  it('knows the owner of a key that was rotated, also when the key before is revoked', () => {
    const { id } = issue()
    const second = rotate(id)
    const third = rotate(second?.id ?? '')
    revokeKey(path, id)
    const ring = open()
    expect([second, third].map((each) => ring.find(each?.key ?? '')?.owner)).toEqual([id, id])
  })

  it('knows the scopes and the expiry of a key', () => {
    const { key } = issue('a', { scopes: ['read', 'bookings'], expiresAt: inDays(1) })
    expect(open().find(key)?.scopes).toEqual(new Set(['read', 'bookings']))
    expect(open({ time: new Date(inDays(1).getTime() - 1) }).find(key)).toBeDefined()
    const later = open({ time: inDays(1), given: ['plain'] })
    expect([later.find(key), later.size]).toEqual([undefined, 1])
    changeKeys(path, (keys) => keys.map((each): StoredKey => ({ ...each, expiresAt: 'soon' })))
    expect([open().find(key), open().size]).toEqual([undefined, 0])
  })

  it('keeps the keys of an unreadable file for a while, then refuses them, and logs both', async () => {
    const { key } = issue()
    const ring = open({ given: ['plain'], unreadableMs: 1000 })
    writeFileSync(path, 'broken')
    await vi.waitFor(() => expect(lines).toHaveLength(1), patience)
    expect(ring.find(key)).toBeDefined()
    await vi.waitFor(() => expect(ring.find(key)).toBeUndefined(), patience)
    expect(ring.find('plain')).toBeDefined()
    expect(lines.map(({ msg }) => msg)).toEqual([
      'the file of API keys cannot be read: its keys stay valid for at most 1 s',
      'the file of API keys cannot be read: its keys are refused',
    ])
  })

  it('takes a file that was there and is gone for one that cannot be read, until it is back', async () => {
    const { key } = issue()
    const ring = open({ given: ['plain'], unreadableMs: 1000 })
    const content = readFileSync(path, 'utf8')
    rmSync(path)
    ring.follow()
    expect(ring.find(key)).toBeDefined()
    expect(lines).toMatchObject([
      {
        msg: 'the file of API keys cannot be read: its keys stay valid for at most 1 s',
        err: { message: `${path} is gone: restore it, or issue keys anew` },
      },
    ])
    await vi.waitFor(() => expect(ring.find(key)).toBeUndefined(), patience)
    expect(ring.find('plain')).toBeDefined()
    writeFileSync(path, content)
    ring.follow()
    expect(ring.find(key)).toBeDefined()
  })

  it('is empty without a file, as before a first start', () => {
    const ring = open()
    ring.follow()
    expect([ring.size, lines]).toEqual([0, []])
  })

  it('does not take a revocation for done that it could not read', async () => {
    const { id, key } = issue()
    const ring = open()
    const content = readFileSync(path, 'utf8')
    writeFileSync(path, 'broken')
    await vi.waitFor(() => expect(lines).toHaveLength(1), patience)
    writeFileSync(path, content)
    revokeKey(path, id)
    await vi.waitFor(() => expect(ring.find(key)).toBeUndefined(), patience)
  })

  it('writes into the audit log what became of keys, whatever else is logged', () => {
    const { id } = issue('a', { issuedBy: 'root' })
    const ring = open()
    const other = issue('b', { issuedBy: 'alice' })
    ring.follow()
    const rotated = rotate(id, { issuedBy: 'bob' })
    ring.follow()
    revokeKey(path, other.id)
    ring.follow()
    expect(lines).toMatchObject([
      { level: 30, audit: 'key issued', keyId: other.id, name: 'b', actor: 'alice' },
      { audit: 'key will expire', keyId: id, expiresAt: inDays(1).toISOString() },
      { audit: 'key rotated', keyId: rotated?.id, owner: id, actor: 'bob' },
      { audit: 'key revoked', keyId: other.id, name: 'b' },
    ])
  })

  it('writes down when keys were used last, beside those that another process has written', () => {
    const [one, other, unused] = [issue('a'), issue('b'), issue('c')]
    const rings = [open({ given: ['plain'] }), open({ time: inDays(1) })]
    rings[0]?.find(one.key)
    rings[0]?.find('plain')
    rings[0]?.close()
    rings[1]?.find(other.key)
    rings[1]?.close()
    expect(readKeyUse(path)).toEqual({ [one.id]: now.toISOString(), [other.id]: inDays(1).toISOString() })
    expect(readKeyUse(path)).not.toHaveProperty(unused.id)
  })

  it('goes on, and can be closed, when keys were used and their file cannot be read', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { key } = issue()
    const ring = open()
    ring.find(key)
    rmSync(path)
    mkdirSync(path) // as any other failure but ENOENT
    vi.advanceTimersByTime(120_000)
    expect(ring.find(key)).toBeDefined()
    ring.close()
    expect(lines.map(({ msg }) => msg)).toEqual([
      'the file of API keys cannot be read: its keys stay valid for at most 60 s',
      'the file of last uses of API keys cannot be written',
    ])
  })
})
