import { execFileSync } from 'node:child_process'
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { issueKey, revokeKey } from '../../../src/engine/api-keys/api-keys.ts'
import { readKeys } from '../../../src/engine/api-keys/key-file.ts'
import { openKeyRing } from '../../../src/engine/api-keys/key-ring.ts'
import { readKeyUse } from '../../../src/engine/api-keys/key-use.ts'
import { lockFile } from '../../../src/engine/lib/file-lock.ts'
import { canMountSmall, fill } from '../../campaign/system/small-disk.ts'
import { captureLog } from '../../lib/captured-log.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'

const now = new Date('2026-11-20T12:00:00Z')
const { logger, lines } = captureLog()
let folder: string
/** What is shared, and what a host has in its own folder. */
let shared: string
let own: string

beforeEach(() => {
  lines.splice(0)
  folder = temporaryFolder()
  shared = join(folder, 'shared', 'keys.json')
  own = join(folder, 'own', 'api-keys.json')
  mkdirSync(join(folder, 'shared'))
  mkdirSync(join(folder, 'own'))
})

const issue = (path: string) => issueKey(path, { service: 'theatre', name: 'somebody' }, now)

function open(path: string, unreadableMs = 60_000) {
  const ring = openKeyRing({ path, given: [], now: () => now, logger, unreadableMs })
  onTestFinished(() => ring.close())
  return ring
}

describe('a key file behind a symbolic link', () => {
  it('is changed itself, so that no host accepts a revoked key', () => {
    const { id, key } = issue(shared)
    symlinkSync(join('..', 'shared', 'keys.json'), own)
    const ring = open(shared)
    expect(ring.find(key)).toBeDefined()
    expect(revokeKey(own, id)).toBe(true)
    ring.follow()
    expect(ring.find(key)).toBeUndefined()
    expect(lstatSync(own).isSymbolicLink()).toBe(true)
    expect(readdirSync(join(folder, 'own'))).toEqual(['api-keys.json'])
  })

  it('has one lock and one record of last uses, whichever path names it', () => {
    const { id, key } = issue(shared)
    symlinkSync(shared, own)
    const lock = lockFile(`${shared}.lock`, 0)
    const ring = open(own)
    ring.find(key)
    ring.close()
    expect(readKeyUse(shared)).toEqual({})
    lock?.[Symbol.dispose]()
    const other = open(own)
    other.find(key)
    other.close()
    expect(readKeyUse(shared)).toEqual({ [id]: now.toISOString() })
    expect(readKeyUse(own)).toEqual(readKeyUse(shared))
  })
})

it('a key file with another name is not changed, since that would keep the keys', () => {
  const { id } = issue(shared)
  linkSync(shared, own)
  expect(() => revokeKey(shared, id)).toThrow(`${shared} has another name`)
  unlinkSync(own)
  expect(revokeKey(shared, id)).toBe(true)
})

describe.runIf(await canMountSmall())('a key file on a mounted file system', () => {
  function mount(...args: string[]): void {
    const at = args.at(-1) as string
    execFileSync('mount', args)
    onTestFinished(() => void execFileSync('umount', ['--lazy', at]))
  }

  it('that is mounted by itself is not changed, and whoever tries is told what to do', () => {
    const { id } = issue(shared)
    writeFileSync(own, '')
    mount('--bind', shared, own)
    expect(() => revokeKey(own, id)).toThrow(
      /own\/api-keys.json cannot be changed, .*: it is mounted by itself: mount the/,
    )
    expect(readKeys(shared)).toHaveLength(1)
    expect(readdirSync(join(folder, 'own')).sort()).toEqual(['api-keys.json', 'api-keys.json.lock'])
  })

  it('that is mounted by itself, and was replaced elsewhere, is not believed', async () => {
    const { id, key } = issue(shared)
    writeFileSync(own, '')
    mount('--bind', shared, own)
    const ring = open(own, 1000)
    expect(ring.find(key)).toBeDefined()
    revokeKey(shared, id)
    await vi.waitFor(() => expect(ring.find(key)).toBeUndefined(), { timeout: 5000 })
    expect(lines[0]).toMatchObject({
      msg: expect.stringContaining('cannot be read'),
      err: { message: expect.stringContaining('was replaced elsewhere') },
    })
  })

  it('that can only be read is not changed', () => {
    const { id } = issue(shared)
    mount('--bind', '-o', 'ro', join(folder, 'shared'), join(folder, 'own'))
    const path = join(folder, 'own', 'keys.json')
    expect(() => revokeKey(path, id)).toThrow(/its folder \S+ must be one that user \d+ can write to \(EROFS/)
  })

  it('on another disk than the link to it is changed there', () => {
    mount('-t', 'tmpfs', '-o', 'size=1m', 'theatre-test', join(folder, 'shared'))
    const { id } = issue(shared)
    symlinkSync(shared, own)
    expect(revokeKey(own, id)).toBe(true)
    expect(readKeys(shared)).toEqual([])
  })

  it('that is full is as before', async () => {
    mount('-t', 'tmpfs', '-o', 'size=1m', 'theatre-test', join(folder, 'shared'))
    issue(shared)
    const before = readFileSync(shared, 'utf8')
    await fill(join(folder, 'shared'))
    expect(() => issue(shared)).toThrow(
      /cannot be changed, and its keys are as before: the disk of \S+ is full: free some space/,
    )
    expect(readFileSync(shared, 'utf8')).toBe(before)
    expect(readdirSync(join(folder, 'shared')).sort()).toEqual(['filler', 'keys.json', 'keys.json.lock'])
  })
})
