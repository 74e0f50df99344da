import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openSqliteEventLog } from '../../../src/engine/log/sqlite/sqlite-event-log.ts'
import { canMountSmall, fill, mountSmall } from '../../campaign/system/small-disk.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'
import { whenDone } from '../../lib/when-done.ts'
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
