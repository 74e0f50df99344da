import type { Generation } from '../read-models.ts'
import type { StoredGeneration, StoredVersion, Upkeep } from '../upkeep.ts'
import { SqliteInspection } from './sqlite-inspection.ts'
import { tablesOfGeneration } from './sqlite-tables.ts'

export abstract class SqliteUpkeep extends SqliteInspection implements Upkeep {
  /** A generation has become the active one. */
  protected abstract started(name: string): void

  async start(generation: Generation, instead: string | undefined): Promise<void> {
    const { statements } = this.database
    const isStarted = this.database.write(() => {
      const active = this.database.inState('active')
      if (active?.name !== instead) return false
      if (active !== undefined) statements.setState.run('replaced', Date.now(), active.continues, active.key)
      this.#insert(generation, 'active')
      return true
    })
    if (isStarted) this.started(generation.name)
  }

  async generations(): Promise<readonly StoredGeneration[]> {
    const rows = this.database.answer(() => this.#generations(this.database.version))
    return rows.map(({ key: _, ...generation }) => ({ ...generation }))
  }

  async build(generation: Generation): Promise<Generation> {
    return this.database.write(() => {
      const building = this.database.inState('building')
      if (building?.epoch === generation.epoch) {
        this.database.statements.setState.run('building', Date.now(), null, building.key)
        return { name: building.name, epoch: building.epoch }
      }
      if (building !== undefined) this.#remove(building.key)
      this.#insert(generation, 'building')
      return generation
    })
  }

  async activate(name: string): Promise<'activated' | 'behind' | 'incomplete' | 'not_building'> {
    const outcome = this.database.write(() => {
      const building = this.database.inState('building')
      const active = this.database.inState('active')
      if (building?.name !== name || (active !== undefined && active.epoch !== building.epoch)) return 'not_building'
      if (active !== undefined && this.#isBehind(building.key, active.key)) return 'behind'
      if (!this.#isComplete(building.key)) return 'incomplete'
      const { setState } = this.database.statements
      if (active !== undefined) setState.run('replaced', Date.now(), active.continues, active.key)
      setState.run('active', Date.now(), active?.name ?? null, building.key)
      return 'activated'
    })
    if (outcome === 'activated') this.started(name)
    return outcome
  }

  async remove(name: string): Promise<boolean> {
    return this.database.write(() => {
      const key = this.database.key(name)
      if (key === undefined || this.database.inState('active')?.key === key) return false
      this.#remove(key)
      return true
    })
  }

  async renew(): Promise<void> {
    this.database.write(() => this.database.statements.renew.run(this.database.version, Date.now()))
  }

  async versions(): Promise<readonly StoredVersion[]> {
    return this.database.answer(() => this.#versions())
  }

  async prune(graceMs: number): Promise<readonly string[]> {
    const before = Date.now() - graceMs
    return this.database.write(() => {
      const { version: own, statements } = this.database
      const versions = this.#versions().filter(({ version, renewed }) => version !== own && renewed <= before)
      const generations = this.#generations(own).filter(({ state, since }) => state !== 'active' && since <= before)
      for (const { version, renewed } of versions) {
        for (const { key } of this.#generations(version)) this.#remove(key)
        statements.removeVersion.run(version, renewed)
      }
      for (const { key } of generations) this.#remove(key)
      return [...versions.map(({ version }) => version), ...generations.map(({ name }) => `${own}/${name}`)]
    })
  }

  #generations(version: string): (StoredGeneration & { key: number })[] {
    return this.database.statements.generations.all(version) as unknown as (StoredGeneration & { key: number })[]
  }

  #versions(): StoredVersion[] {
    return this.database.statements.versions.all() as unknown as StoredVersion[]
  }

  #insert({ name, epoch }: Generation, state: StoredGeneration['state']): void {
    this.database.statements.insertGeneration.run(this.database.version, name, epoch, state, Date.now())
  }

  #remove(key: number): void {
    const { db, statements, collections } = this.database
    for (const collection of this.database.collectionsOf(key)) collections.drop(collection.key)
    for (const table of tablesOfGeneration) db.prepare(`DELETE FROM ${table} WHERE generation = ?`).run(key)
    statements.removeGeneration.run(key)
  }

  #isBehind(building: number, active: number): boolean {
    const reached = this.database.checkpoints(building)
    return [...this.database.checkpoints(active)].some(([partition, { next }]) => {
      return (reached.get(partition)?.next ?? 0) < next
    })
  }

  #isComplete(generation: number): boolean {
    return this.database.collectionsOf(generation).every(({ key, added }) => {
      return this.database.collections.table(key).count.get()?.count === added
    })
  }
}
