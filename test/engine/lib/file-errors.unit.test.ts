import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toldOf } from '../../../src/engine/lib/errors/file-errors.ts'
import { lockFile } from '../../../src/engine/lib/file-lock.ts'
import { openSqliteEventLog } from '../../../src/engine/log/sqlite/sqlite-event-log.ts'
import { openFile } from '../../../src/engine/read-models/sqlite/sqlite-tables.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'
import { runHere } from '../cli/run-here.ts'

const openers: [string, open: (file: string) => unknown][] = [
  ['the event log', (file) => openSqliteEventLog({ file })],
  ['the read models', (file) => openFile(file, true)],
  ['a lock', (file) => lockFile(file, 0)],
]

it.each(openers)('%s that cannot be opened is named, with the reason and what to do', (what, open) => {
  const folder = temporaryFolder()
  const file = join(folder, 'file')
  writeFileSync(file, 'garbage'.repeat(1000))
  mkdirSync(join(folder, 'folder'))
  const told = (path: string) => {
    try {
      open(path)
    } catch (error) {
      return toldOf(error)
    }
    return 'opened'
  }
  expect(told(join(folder, 'folder'))).toMatch(/\/folder.*it is a folder and not a file/)
  if (what !== 'a lock')
    expect(told(join(folder, 'missing', 'file'))).toMatch(/missing.*: there is no such file or folder/)
  expect(told(join(file, 'below'))).toMatch(/file\b.*: (a part of its path is a file|something else is there)/)
  expect(told(file)).toMatch(
    /\/file cannot be used \(file is not a database\): (restore it|the service sets it aside|remove it)/,
  )
})

it('an error of the file system gets its advice wherever it comes from; any other stays as it is', async () => {
  const file = join(temporaryFolder(), 'file')
  writeFileSync(file, '')
  const keys = await runHere({ API_KEYS_FILE: join(file, 'keys.json') }, 'keys issue --name me')
  expect(keys.errors).toMatch(/ENOTDIR.*: a part of its path is a file and not a folder: correct the path\n$/)
  const loop = join(temporaryFolder(), 'loop')
  symlinkSync(loop, loop)
  const stats = await runHere({ DATA_DIR: loop }, 'stats')
  expect(stats.errors).toMatch(/ELOOP.*: its symbolic links lead in a circle: correct them\n$/)
  expect(toldOf(new Error('as it is'))).toBe('as it is')
  expect(toldOf('text')).toBe('text')
})
