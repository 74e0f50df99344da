import { Listeners } from '../listeners.ts'
import type { ReadModelStore } from '../store.ts'
import { SqliteDatabase, type SqliteReadModelsOptions } from './sqlite-database.ts'
import { sqliteGenerations } from './sqlite-generations.ts'
import { sqliteInspection } from './sqlite-inspection.ts'
import { sqliteProjection } from './sqlite-projection.ts'
import { sqliteReads } from './sqlite-reads.ts'

/**
 * Read models in a SQLite file. Several processes may open it at once; progress is announced within one store only.
 * Throws OutOfReachError if the file has another layout, unless the owner opens it.
 */
export function openSqliteReadModels(options: SqliteReadModelsOptions): ReadModelStore {
  const database = new SqliteDatabase(options)
  const listeners = new Listeners({ connected: true })
  return {
    reads: sqliteReads(database),
    projection: sqliteProjection(database, listeners),
    generations: sqliteGenerations(database, listeners),
    inspection: sqliteInspection(database),
    warnings: [],
    async close() {
      if (!database.db.isOpen) return
      database.db.close()
      listeners.disconnected()
    },
  }
}
