import { setImmediate as nextTurn } from 'node:timers/promises'
import { timeOfDay } from '../../lib/clock.ts'
import { DamagedError } from '../damaged.ts'
import type { Listeners } from '../listeners.ts'
import type {
  ActiveGeneration,
  Checkpoints,
  Generation,
  Generations,
  Look,
  StoredGeneration,
} from '../ports/generations.ts'
import type { GenerationRow, SqliteDatabase } from './sqlite-database.ts'
import { sizesOf } from './sqlite-inspection.ts'
import { isWithin } from './sqlite-projection.ts'

const pauseEveryMs = 5000
const now = () => timeOfDay().getTime()
/** Entries that are removed in one turn of the event loop. */
const removedAtOnce = 2000

export function sqliteGenerations(database: SqliteDatabase, listeners: Listeners): Generations {
  const own = database.options.version

  function insert({ name, logId }: Generation, state: StoredGeneration['state']): void {
    database.run`
      INSERT INTO generation (version, name, log_id, state, since, paused)
      VALUES (${own}, ${name}, ${logId}, ${state}, ${now()}, 0)`
  }

  function setState(key: number, state: StoredGeneration['state'], continues: string | null): void {
    database.run`UPDATE generation SET state = ${state}, since = ${now()}, continues = ${continues} WHERE key = ${key}`
  }

  function replace(active: GenerationRow | undefined): void {
    if (active !== undefined) setState(active.key, 'replaced', active.continues)
  }

  function storedVersions() {
    const rows = database.all`SELECT version, min(renewed, 9007199254740991) AS renewed FROM version ORDER BY version`
    return rows.map(({ version, renewed }) => ({ version: String(version), renewed: Number(renewed) }))
  }

  return {
    async look() {
      database.expectFile()
      return database.read(() => {
        const byState = new Map(database.generations().map((each) => [each.state, each]))
        const [active, building] = [byState.get('active'), byState.get('building')]
        const found = checkpointsOf(database, active)
        const built = checkpointsOf(database, building).checkpoints
        return {
          active: active && activeOf(active),
          ...found,
          isComplete: found.damage === undefined, // SQLite loses nothing by itself, and counting takes time
          building: building && built && { ...generationOf(building), checkpoints: built },
        }
      })
    },

    async active() {
      const active = database.read(() => database.inState('active'))
      return active && activeOf(active)
    },

    async checkpoints(generation) {
      return database.readGeneration(generation, (key) => database.checkpoints(key))
    },

    listen: (listener) => listeners.add(listener),

    async start(generation, instead) {
      const isStarted = database.write(() => {
        const active = database.inState('active')
        if (active?.name !== instead) return false
        replace(active)
        insert(generation, 'active')
        return true
      })
      if (isStarted) listeners.progress(generation.name)
      return isStarted
    },

    async all() {
      const rows = database.read(() => database.generations())
      return rows.map(({ name, logId, state, since }) => ({ name, logId, state, since }))
    },

    async build(generation) {
      const built = database.write(() => {
        const building = database.inState('building')
        if (building?.logId === generation.logId) {
          setState(building.key, 'building', null)
          return generationOf(building)
        }
        if (building !== undefined) letGo(database, building)
        insert(generation, 'building')
        return generation
      })
      await removeLeft(database)
      return built
    },

    async activate(name) {
      const outcome = database.write(() => {
        const building = database.inState('building')
        const active = database.inState('active')
        if (building?.name !== name || (active !== undefined && active.logId !== building.logId)) return 'not_building'
        const reached = checkpointsOf(database, building).checkpoints
        const stored = checkpointsOf(database, active).checkpoints
        if (reached === undefined) return 'incomplete'
        if (active !== undefined && stored !== undefined && isBehind(reached, stored)) {
          if (!isWithin(pauseEveryMs, active.paused)) {
            database.run`UPDATE generation SET paused = ${now()} WHERE key = ${active.key}`
          }
          return 'behind'
        }
        const sizes = [...sizesOf(database, building.key).values()]
        if (sizes.some(({ actual, recorded }) => actual !== recorded)) return 'incomplete'
        replace(active)
        setState(building.key, 'active', stored === undefined ? null : (active?.name ?? null))
        return 'activated'
      })
      if (outcome === 'activated') listeners.progress(name)
      return outcome
    },

    async remove(name) {
      const isRemoved = database.write(() => {
        const found = database.generation(name)
        if (found === undefined || found.state === 'active') return false
        letGo(database, found)
        return true
      })
      await removeLeft(database)
      return isRemoved
    },

    async renew() {
      database.write(() => database.run`REPLACE INTO version (version, renewed) VALUES (${own}, ${now()})`)
    },

    async versions() {
      return database.read(storedVersions)
    },

    async removeVersion({ version, renewed }, logId) {
      const isRemoved = database.write(() => {
        const isListed = storedVersions().some((each) => each.version === version && each.renewed === renewed)
        const generations = database.generations(version)
        const isForeign = generations.some((each) => each.state !== 'replaced' && each.logId !== logId)
        if (version === own || isForeign || !isListed) return false
        for (const generation of generations) letGo(database, generation)
        database.run`DELETE FROM version WHERE version = ${version}`
        return true
      })
      await removeLeft(database)
      return isRemoved
    },

    async prune(graceMs) {
      const time = now()
      const before = time - graceMs
      const removed = database.write(() => {
        database.run`
          UPDATE generation SET since = ${time} WHERE version = ${own} AND state <> 'active' AND since > ${time}`
        const generations = database.generations().filter(({ state, since }) => state !== 'active' && since <= before)
        for (const generation of generations) letGo(database, generation)
        return generations.map(({ name }) => name)
      })
      await removeLeft(database)
      return removed
    },
  }
}

function generationOf({ name, logId }: GenerationRow): Generation {
  return { name, logId }
}

function activeOf(row: GenerationRow): ActiveGeneration {
  return { ...generationOf(row), continues: row.continues ?? undefined }
}

/** None of no generation, and of one whose checkpoints are damaged. */
function checkpointsOf(
  database: SqliteDatabase,
  generation: GenerationRow | undefined,
): Pick<Look, 'checkpoints' | 'damage'> {
  if (generation === undefined) return { checkpoints: undefined }
  try {
    return { checkpoints: database.checkpoints(generation.key) }
  } catch (error) {
    if (error instanceof DamagedError) return { checkpoints: undefined, damage: error.damage }
    throw error
  }
}

function isBehind(reached: Checkpoints, stored: Checkpoints): boolean {
  return [...stored].some(([partition, { next }]) => (reached.get(partition)?.next ?? 0) < next)
}

/** From now on nothing finds the generation. `removeLeft` removes what it leaves. */
function letGo(database: SqliteDatabase, { key }: GenerationRow): void {
  database.run`UPDATE generation SET state = 'removed' WHERE key = ${key}`
}

/** Removes what generations have left, also those of a process that ended meanwhile; everything else has turns in between. */
async function removeLeft(database: SqliteDatabase): Promise<void> {
  while (database.write(() => removeSome(database))) await nextTurn()
}

/** Whether there was anything to remove. */
function removeSome(database: SqliteDatabase): boolean {
  const removed = database.get`SELECT key FROM generation WHERE state = 'removed' LIMIT 1`
  if (removed === undefined) return false
  const key = Number(removed.key)
  const [collection] = database.collections(key)
  if (collection !== undefined) {
    database.removeDocuments(collection, removedAtOnce)
    return true
  }
  const { changes } = database.run`
    DELETE FROM text WHERE (generation, name, id) IN (
      SELECT generation, name, id FROM text WHERE generation = ${key} LIMIT ${removedAtOnce})`
  if (changes === 0) {
    database.run`DELETE FROM checkpoint WHERE generation = ${key}`
    database.run`DELETE FROM text_set WHERE generation = ${key}`
    database.run`DELETE FROM generation WHERE key = ${key}`
  }
  return true
}
