import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openSqliteReadModels } from '../../../../src/engine/read-models/sqlite/sqlite-read-models.ts'
import { layoutVersion } from '../../../../src/engine/read-models/sqlite/sqlite-tables.ts'
import { type Contents, contentsOf, type RecordedAdapter, withoutTime } from './contents.ts'

export const recordedSqlite: RecordedAdapter = {
  name: `sqlite-${layoutVersion}`,
  async contentsAfter({ version, names }, use) {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'recorded-state-'))
    const file = join(folder.path, 'read-models.db')
    const store = openSqliteReadModels({ file, version, names, isOwner: true })
    try {
      await use(store)
    } finally {
      await store.close()
    }
    return tablesOf(file)
  },
}

/** The rows of each table, by the statement that made it. */
function tablesOf(file: string): Contents {
  using db = new DatabaseSync(file, { readOnly: true })
  const tables = db.prepare("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite|_%' ESCAPE '|'").all()
  return contentsOf(
    tables.map(({ name, sql }) => {
      const rows = db.prepare(`SELECT * FROM "${name}"`).all()
      return [String(sql).replace('CREATE TABLE ', '').replaceAll(/\s+/g, ' '), rows.map(withoutTimes)]
    }),
  )
}

function withoutTimes(row: object): object {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, withoutTime(value)]))
}
