import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openSqliteEventLog } from '../../../../src/engine/log/sqlite/sqlite-event-log.ts'
import { openSqliteReadModels } from '../../../../src/engine/read-models/sqlite/sqlite-read-models.ts'
import { temporaryFolder } from '../../../lib/temporary-folder.ts'
import { theatre } from '../../theatre/theatre.ts'
import { closedAfterTest } from '../contract/fixture.ts'
import { failingCommits } from './stored-log.ts'

const newFile = () => join(temporaryFolder(), 'data.sqlite')
const openLog = (file = newFile()) => closedAfterTest(openSqliteEventLog({ file }))

/** The connection with which `open` opens a file: settings such as `synchronous` are of a connection, not of the file. */
function connectionOf(open: () => unknown): DatabaseSync {
  const exec = vi.spyOn(DatabaseSync.prototype, 'exec')
  onTestFinished(() => exec.mockRestore())
  open()
  const [connection] = exec.mock.contexts as DatabaseSync[]
  exec.mockRestore()
  if (connection === undefined) throw new Error('nothing was opened')
  return connection
}

function setting(connection: DatabaseSync, name: string): unknown {
  return connection.prepare(`PRAGMA ${name}`).get()?.[name]
}

// https://www.sqlite.org/pragma.html#pragma_synchronous
const [normal, full] = [1, 2]

describe('what SQLite has acknowledged', () => {
  it('is on disk before an append is, whatever happens to the machine', () => {
    const connection = connectionOf(() => openLog())
    expect([setting(connection, 'journal_mode'), setting(connection, 'synchronous')]).toEqual(['wal', full])
  })

  it('may be lost from the end of read models, which are made from the log again', () => {
    const connection = connectionOf(() => {
      const store = openSqliteReadModels({ file: newFile(), version: 'v1', names: theatre.names })
      onTestFinished(() => store.close())
    })
    expect([setting(connection, 'journal_mode'), setting(connection, 'synchronous')]).toEqual(['wal', normal])
  })

  it('is no block of ids whose commit fails, which the next reservation gets', async () => {
    const log = openLog()
    expect(await log.reserveIdBlock()).toBe(1)
    const restore = failingCommits(new Error('the disk is full'))
    await expect(log.reserveIdBlock()).rejects.toMatchObject({ code: 'event_log_unavailable' })
    restore()
    expect(await log.reserveIdBlock()).toBe(2)
  })
})
