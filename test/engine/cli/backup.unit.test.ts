import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openSqliteEventLog } from '../../../src/engine/log/sqlite/sqlite-event-log.ts'
import { canMountSmall, fill, mountSmall } from '../../campaign/system/small-disk.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'
import { whenDone } from '../../lib/when-done.ts'
import { replaceBytes, storedLog } from '../log/sqlite/stored-log.ts'
import { runHere } from './run-here.ts'

it.runIf(await canMountSmall())('a backup that has no room leaves nothing that could be taken for one', async () => {
  const DATA_DIR = temporaryFolder()
  await openSqliteEventLog({ file: join(DATA_DIR, 'event-log.db') }).close()
  const disk = join(temporaryFolder(), 'disk')
  const stack = new AsyncDisposableStack()
  whenDone(() => stack.disposeAsync())
  await mountSmall(stack, disk, 1)
  const folder = join(disk, 'backup')
  mkdirSync(folder)
  await fill(disk)
  const { code, errors } = await runHere({ DATA_DIR }, `backup ${folder}`)
  expect([code, errors]).toEqual([1, expect.stringMatching(/no room for a backup in \S+: free some space, or name/)])
  expect(readdirSync(folder)).toEqual([])
})

it('a backup of a damaged log names the place, and leaves nothing that could be taken for one', async () => {
  const DATA_DIR = temporaryFolder()
  const file = join(DATA_DIR, 'event-log.db')
  await storedLog(300, file)
  const folder = join(temporaryFolder(), 'backup')
  const run = () => runHere({ DATA_DIR }, `backup ${folder}`)
  replaceBytes(file, 'value-0123', 'value-0124')
  const changed = await run()
  expect([changed.code, changed.errors]).toEqual([1, expect.stringContaining('damaged at offset 123 (')])
  expect(readdirSync(folder)).toEqual([])

  const bytes = readFileSync(file)
  writeFileSync(file, bytes.fill(0xa5, bytes.length - 4096)) // SQLite cannot read it
  const overwritten = await run()
  expect([overwritten.code, overwritten.errors]).toEqual([1, expect.stringMatching(/damaged at offset \d+ \(/)])
  expect(readdirSync(folder)).toEqual([])
})
