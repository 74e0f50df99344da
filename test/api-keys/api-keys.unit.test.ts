import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { issueKey, openKeyRing, readKeys, revokeKey, rotateKey } from '../../src/api-keys/api-keys.ts'
import { lockFile } from '../../src/lib/file-lock.ts'

const logger = pino({ level: 'silent' })
const now = new Date('2026-11-20T12:00:00Z')
let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-keys-'))
  path = join(folder, 'keys', 'api-keys.json')
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('the key file', () => {
  it('keeps a hash of an issued key, never the key, readable by its owner only', () => {
    const { id, key } = issueKey(path, 'somebody', now)
    expect(readKeys(path)).toMatchObject([{ id, name: 'somebody', createdAt: now.toISOString() }])
    expect(readFileSync(path, 'utf8')).not.toContain(key)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('issues different keys and revokes one of them', () => {
    const issued = [issueKey(path, 'a', now), issueKey(path, 'b', now)]
    expect(new Set(issued.map(({ key }) => key)).size).toBe(2)
    expect(revokeKey(path, issued[0]?.id ?? '')).toBe(true)
    expect(readKeys(path)?.map(({ name }) => name)).toEqual(['b'])
    expect(revokeKey(path, 'nobody')).toBe(false)
  })

  it('that is missing holds no keys; one that is no key file is refused by name', () => {
    expect(readKeys(path)).toBeUndefined()
    issueKey(path, 'a', now)
    for (const content of ['{"keys":', '[]', '{"keys":[{"id":1}]}']) {
      writeFileSync(path, content)
      expect(() => readKeys(path)).toThrow(path)
    }
  })

  it('is not changed while another process changes it', () => {
    const lock = lockFile(`${path}.lock`, 0)
    expect(lockFile(`${path}.lock`, 0)).toBeUndefined()
    lock?.release()
    issueKey(path, 'a', now)
    expect(readKeys(path)).toHaveLength(1)
  })
})

describe('the key ring', () => {
  it('knows the keys of the file and those given, and follows the file', async () => {
    const ring = openKeyRing(path, ['plain'], logger)
    expect(ring.ownerOf('plain')).toMatch(/^given-/)
    expect(ring.ownerOf('other')).toBeUndefined()
    const { id, key } = issueKey(path, 'somebody', now)
    await vi.waitFor(() => expect(ring.ownerOf(key)).toBe(id), { timeout: 5000 })
    revokeKey(path, id)
    await vi.waitFor(() => expect(ring.ownerOf(key)).toBeUndefined(), { timeout: 5000 })
    expect(ring.ownerOf('plain')).toMatch(/^given-/)
    ring.close()
  })

  it('knows the owner of a key that was rotated, also when the key before is revoked', () => {
    const { id } = issueKey(path, 'somebody', now)
    const second = rotateKey(path, id, now)
    const third = rotateKey(path, second?.id ?? '', now)
    revokeKey(path, id)
    const ring = openKeyRing(path, [], logger)
    expect([second, third].map((each) => ring.ownerOf(each?.key ?? ''))).toEqual([id, id])
    expect(rotateKey(path, 'nobody', now)).toBeUndefined()
    ring.close()
  })

  it('keeps the keys it has while the file cannot be read', async () => {
    const { id, key } = issueKey(path, 'somebody', now)
    const warned = vi.fn()
    const ring = openKeyRing(path, [], Object.assign(pino({ level: 'silent' }), { error: warned }))
    writeFileSync(path, 'broken')
    await vi.waitFor(() => expect(warned).toHaveBeenCalled(), { timeout: 5000 })
    expect(ring.ownerOf(key)).toBe(id)
    ring.close()
  })
})
