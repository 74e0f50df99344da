import { randomUUID } from 'node:crypto'
import { pets } from '../../../projections/pets.ts'
import { readModelVersion } from '../../../src/projector/definition.ts'
import { Listeners } from '../../../src/read-models/listeners.ts'
import type { ReadModels } from '../../../src/read-models/read-models.ts'
import { openSqliteReadModels } from '../../../src/read-models/sqlite/sqlite-read-models.ts'

/** The read models that all processes share, in SQLite, and what may befall them there. */
export class SharedReadModels {
  /** Outlive the data, as connections do. */
  readonly listeners = new Listeners({ connected: true })
  #data = this.#open()

  get data(): ReadModels {
    return this.#data
  }

  /** All is gone, and nobody is told. */
  async empty(): Promise<void> {
    const emptied = this.#data
    this.#data = this.#open()
    await emptied.close()
  }

  /** A rebuild begins, for no reason that a process knows of. */
  async startGeneration(epoch: string): Promise<void> {
    await this.#data.start({ name: randomUUID(), epoch }, (await this.#data.active())?.name)
  }

  close(): Promise<void> {
    return this.#data.close()
  }

  #open(): ReadModels {
    const data = openSqliteReadModels({ file: ':memory:', version: readModelVersion(pets) })
    const progress: Listeners['progress'] = (generation, at) => this.listeners.progress(generation, at)
    data.listen({ progress, connected() {}, disconnected() {} })
    return data
  }
}
