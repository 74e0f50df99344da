import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { expect, it, onTestFinished, vi } from 'vitest'
import { issueKey, revokeKey } from '../../../src/engine/api-keys/api-keys.ts'
import { openKeyRing } from '../../../src/engine/api-keys/key-ring.ts'
import { captureLog } from '../../lib/captured-log.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'

const now = new Date('2026-11-20T12:00:00Z')

function setUp(toFake: ('setTimeout' | 'setInterval' | 'clearInterval' | 'performance')[]) {
  vi.useFakeTimers({ toFake })
  onTestFinished(() => void vi.useRealTimers())
  const path = join(temporaryFolder(), 'api-keys.json')
  const { logger, lines } = captureLog()
  const ring = openKeyRing({ path, given: [], now: () => now, logger })
  onTestFinished(() => ring.close())
  return { path, ring, lines }
}

it('a key is valid as soon as it is issued, before the file is looked at by itself', async () => {
  const { path, ring } = setUp(['setInterval', 'clearInterval'])
  const { id, key } = issueKey(path, { service: 'theatre', name: 'me' }, now)
  expect(ring.find(key)).toBeUndefined()
  expect(await ring.findOrLook(key)).toMatchObject({ keyId: id })
  expect(ring.findOrLook(key)).toMatchObject({ keyId: id })
})

it('a text without the checksum of a key is refused without a look', () => {
  const { ring } = setUp(['setInterval', 'clearInterval'])
  for (const text of ['', 'wrong', `${keyNumber(1)}0`]) expect(ring.findOrLook(text)).toBeUndefined()
})

it('10,000 unknown keys a second cause about ten looks, and a key issued among them is valid', async () => {
  const { path, ring, lines } = setUp(['setTimeout', 'setInterval', 'clearInterval', 'performance'])
  const looks = () => lines.filter(({ audit }) => audit === 'key issued').length
  const answers: unknown[] = []
  for (let ms = 1; ms <= 1000; ms++) {
    change(path, ms)
    for (let i = 0; i < 10; i++) answers.push(ring.findOrLook(keyNumber(ms * 10 + i)))
    await vi.advanceTimersByTimeAsync(1)
  }
  expect(looks()).toBeGreaterThan(5)
  expect(looks()).toBeLessThanOrEqual(11) // one each 125 ms, two by itself, and one at the beginning
  const { id, key } = issueKey(path, { service: 'theatre', name: 'me' }, now)
  const found = ring.findOrLook(key)
  await vi.advanceTimersByTimeAsync(125)
  expect(await found).toMatchObject({ keyId: id })
  expect(new Set(await Promise.all(answers))).toEqual(new Set([undefined]))
})

it('requests that arrived before a look at the file are decided by it, and wait for no other', async () => {
  const { path, ring } = setUp(['setTimeout', 'setInterval', 'clearInterval', 'performance'])
  await vi.advanceTimersByTimeAsync(1000)
  const arrivedAtMs = performance.now()
  await vi.advanceTimersByTimeAsync(1)
  const first = ring.findOrLook(keyNumber(1), arrivedAtMs)
  await vi.advanceTimersByTimeAsync(125)
  expect(await first).toBeUndefined()
  expect(first).toBeInstanceOf(Promise)
  expect(ring.findOrLook(keyNumber(2), arrivedAtMs)).toBeUndefined()
  const { id, key } = issueKey(path, { service: 'theatre', name: 'me' }, now)
  const afterwards = ring.findOrLook(key, performance.now())
  await vi.advanceTimersByTimeAsync(125)
  expect(await afterwards).toMatchObject({ keyId: id })
})

it('a key that was found stays valid until it is revoked', () => {
  const { path, ring } = setUp(['setInterval', 'clearInterval'])
  const { id } = issueKey(path, { service: 'theatre', name: 'me' }, now)
  ring.follow()
  expect(ring.isValid(id)).toBe(true)
  revokeKey(path, id)
  ring.follow()
  expect(ring.isValid(id)).toBe(false)
})

function keyNumber(i: number): string {
  const secret = `theatre_${String(i).padStart(43, '0')}`
  return secret + crc32(secret).toString(16).padStart(8, '0')
}

/** Replaces the key in the file by another one, so that each look finds a key that was issued. */
function change(path: string, id: number): void {
  const key = { id: String(id), name: 'x'.repeat(id), sha256: String(id), createdAt: now.toISOString() }
  writeFileSync(path, JSON.stringify({ keys: [key] }))
}
