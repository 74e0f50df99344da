import type {
  ActiveGeneration,
  Checkpoints,
  Generation,
  Generations,
  ProgressListener,
  StoredGeneration,
  StoredVersion,
} from '../generations.ts'
import type { Listeners } from '../listeners.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { sizesOf } from './sqlite-inspection.ts'
import { tablesOfGeneration } from './sqlite-tables.ts'

const pauseMs = 300
const pauseEveryMs = 5000

/** Whether `apply` to a generation is to wait for another one that is about to take over from it. */
export function isPaused({ paused }: { readonly paused: number }): boolean {
  return isWithin(pauseMs, paused)
}

export class SqliteGenerations implements Generations {
  readonly #database: SqliteDatabase
  readonly #listeners: Listeners

  constructor(database: SqliteDatabase, listeners: Listeners) {
    this.#database = database
    this.#listeners = listeners
  }

  async active(): Promise<ActiveGeneration | undefined> {
    return this.#database.read(() => {
      const active = this.#database.inState('active')
      return active && { name: active.name, logId: active.logId, continues: active.continues ?? undefined }
    })
  }

  async checkpoints(generation: string): Promise<Checkpoints | undefined> {
    return this.#database.readGeneration(generation, (key) => this.#database.checkpoints(key))
  }

  listen(listener: ProgressListener): () => void {
    return this.#listeners.add(listener)
  }

  async start(generation: Generation, instead: string | undefined): Promise<void> {
    const isStarted = this.#database.write(() => {
      const active = this.#database.inState('active')
      if (active?.name !== instead) return false
      if (active !== undefined) this.#replace(active)
      this.#insert(generation, 'active')
      return true
    })
    if (isStarted) this.#listeners.progress(generation.name)
  }

  async all(): Promise<readonly StoredGeneration[]> {
    const rows = this.#database.answer(() => this.#all(this.#database.version))
    return rows.map(({ key: _, ...generation }) => generation)
  }

  async build(generation: Generation): Promise<Generation> {
    return this.#database.write(() => {
      const building = this.#database.inState('building')
      if (building?.logId === generation.logId) {
        this.#database.statements.setState.run('building', Date.now(), null, building.key)
        return { name: building.name, logId: building.logId }
      }
      if (building !== undefined) this.#remove(building.key)
      this.#insert(generation, 'building')
      return generation
    })
  }

  async activate(name: string): Promise<'activated' | 'behind' | 'incomplete' | 'not_building'> {
    const outcome = this.#database.write(() => this.#activate(name))
    if (outcome === 'activated') this.#listeners.progress(name)
    return outcome
  }

  async remove(name: string): Promise<boolean> {
    return this.#database.write(() => {
      const found = this.#database.generation(name)
      if (found === undefined || found.state === 'active') return false
      this.#remove(found.key)
      return true
    })
  }

  async renew(): Promise<void> {
    this.#database.write(() => this.#database.statements.renew.run(this.#database.version, Date.now()))
  }

  async versions(): Promise<readonly StoredVersion[]> {
    return this.#database.answer(() => this.#versions())
  }

  async prune(graceMs: number): Promise<readonly string[]> {
    const before = Date.now() - graceMs
    return this.#database.write(() => {
      const { version: own, statements } = this.#database
      const versions = this.#versions().filter(({ version, renewed }) => version !== own && renewed <= before)
      const generations = this.#all(own).filter(({ state, since }) => state !== 'active' && since <= before)
      for (const { version, renewed } of versions) {
        for (const { key } of this.#all(version)) this.#remove(key)
        statements.removeVersion.run(version, renewed)
      }
      for (const { key } of generations) this.#remove(key)
      return [...versions.map(({ version }) => version), ...generations.map(({ name }) => `${own}/${name}`)]
    })
  }

  #activate(name: string): 'activated' | 'behind' | 'incomplete' | 'not_building' {
    const { statements } = this.#database
    const building = this.#database.inState('building')
    const active = this.#database.inState('active')
    if (building?.name !== name || (active !== undefined && active.logId !== building.logId)) return 'not_building'
    if (active !== undefined && this.#isBehind(building.key, active.key)) {
      if (!isWithin(pauseEveryMs, active.paused)) statements.pause.run(Date.now(), active.key)
      return 'behind'
    }
    if (![...sizesOf(this.#database, building.key).values()].every(({ actual, recorded }) => actual === recorded)) {
      return 'incomplete'
    }
    if (active !== undefined) this.#replace(active)
    statements.setState.run('active', Date.now(), active?.name ?? null, building.key)
    return 'activated'
  }

  #isBehind(building: number, active: number): boolean {
    const reached = this.#database.checkpoints(building)
    return [...this.#database.checkpoints(active)].some(([partition, { next }]) => {
      return (reached.get(partition)?.next ?? 0) < next
    })
  }

  #all(version: string): (StoredGeneration & { key: number })[] {
    return this.#database.statements.generations.all(version) as unknown as (StoredGeneration & { key: number })[]
  }

  #versions(): StoredVersion[] {
    return this.#database.statements.versions.all() as unknown as StoredVersion[]
  }

  #insert({ name, logId }: Generation, state: StoredGeneration['state']): void {
    this.#database.statements.insertGeneration.run(this.#database.version, name, logId, state, Date.now())
  }

  #replace({ key, continues }: { key: number; continues: string | null }): void {
    this.#database.statements.setState.run('replaced', Date.now(), continues, key)
  }

  #remove(key: number): void {
    const { db, statements, documentSets } = this.#database
    for (const collection of this.#database.collections(key)) documentSets.drop(collection.key)
    for (const table of tablesOfGeneration) db.prepare(`DELETE FROM ${table} WHERE generation = ?`).run(key)
    statements.removeGeneration.run(key)
  }
}

/** The clock may have been put back: then this is no answer for ever. */
function isWithin(ms: number, since: number): boolean {
  const passed = Date.now() - since
  return passed >= 0 && passed < ms
}
