import { Listeners } from '../listeners.ts'
import type { ReadModelStore } from '../ports/store.ts'
import { SqliteDatabase, type SqliteReadModelsOptions } from './sqlite-database.ts'
import { sqliteGenerations } from './sqlite-generations.ts'
import { sqliteInspection } from './sqlite-inspection.ts'
import { sqliteProjection } from './sqlite-projection.ts'
import { sqliteReads } from './sqlite-reads.ts'

/**
 * Read models in a SQLite file. Several processes may open it at once; progress is announced within one store only.
 * Throws OutOfReachError if the file has another layout, unless the owner opens it. A damaged file is
 * set aside by an owner that is to repair it, whenever it meets the damage.
 */
export function openSqliteReadModels(options: SqliteReadModelsOptions): ReadModelStore {
  const listeners = new Listeners({ connected: true })
  const database = new SqliteDatabase(options, () => {
    listeners.disconnected()
    listeners.connected()
  })
  return {
    reads: sqliteReads(database),
    projection: sqliteProjection(database, listeners),
    generations: sqliteGenerations(database, listeners),
    inspection: sqliteInspection(database),
    warnings: [],
    async close() {
      if (!database.isOpen) return
      database.close()
      listeners.disconnected()
    },
  }
}
