import fs, { existsSync, mkdirSync, readFileSync, readlinkSync, statSync, symlinkSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { makeFolder, replaceFile } from '../../../src/engine/lib/durable-files.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'

/** What is renamed and synced from now on. */
function watchDisk(): string[] {
  const done: string[] = []
  const { renameSync, fsyncSync } = fs
  const spies = [
    vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
      renameSync(from, to)
      done.push(`rename to ${to}`)
    }),
    vi.spyOn(fs, 'fsyncSync').mockImplementation((file) => {
      fsyncSync(file)
      done.push(`sync ${readlinkSync(`/proc/self/fd/${file}`)}`)
    }),
  ]
  syncBuiltinESMExports()
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore()
    syncBuiltinESMExports()
  })
  return done
}

it.runIf(process.platform === 'linux')('a folder is synced once a file in it was replaced', () => {
  const folder = temporaryFolder()
  const done = watchDisk()
  replaceFile(join(folder, 'file'), 'new')
  expect(done.slice(-2)).toEqual([`rename to ${join(folder, 'file')}`, `sync ${folder}`])
  expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('new')
})

it.runIf(process.platform === 'linux')('a new folder is synced with all that are new above it', () => {
  const folder = temporaryFolder()
  const done = watchDisk()
  makeFolder(join(folder, 'a', 'b', 'c'))
  expect(done).toEqual([join(folder, 'a', 'b'), join(folder, 'a'), folder].map((each) => `sync ${each}`))
  makeFolder(join(folder, 'a', 'b'))
  expect(done).toHaveLength(3)
  expect(statSync(join(folder, 'a', 'b', 'c')).mode & 0o777).toBe(0o700)
})

it('a file is replaced behind a link, and made behind none', () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'other'))
  const [link, file] = [join(folder, 'link'), join(folder, 'other', 'file')]
  symlinkSync(file, link)
  expect(() => replaceFile(link, 'new')).toThrow(`${link} is a link to ${file}, which is not there`)
  expect(existsSync(file)).toBe(false)
  replaceFile(file, 'old')
  replaceFile(link, 'new')
  expect([readFileSync(file, 'utf8'), readlinkSync(link)]).toEqual(['new', file])
})
