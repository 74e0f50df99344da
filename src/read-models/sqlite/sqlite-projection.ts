import type { Listeners } from '../listeners.ts'
import type { ParkedEvent } from '../parked-event.ts'
import type { ApplyResult, Batch, LoadRequest, PartitionState, ProjectionStore } from '../projection-store.ts'
import { applyBatch, storedCheckpoint } from './sqlite-apply.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { isPaused } from './sqlite-generations.ts'

export class SqliteProjection implements ProjectionStore {
  readonly #database: SqliteDatabase
  readonly #listeners: Listeners

  constructor(database: SqliteDatabase, listeners: Listeners) {
    this.#database = database
    this.#listeners = listeners
  }

  async load(generation: string, request: LoadRequest): Promise<PartitionState | undefined> {
    return this.#database.readGeneration(generation, (key) => this.#load(key, request))
  }

  #load(key: number, { partition, streams, keys, queues }: LoadRequest): PartitionState {
    const database = this.#database
    const { statements, home } = database
    const homeSet = database.documentSet(key, home)
    const hasParked = (stream: string) => statements.hasParked.get(key, stream) !== undefined
    const queueOf = (stream: string) => statements.queue.all(key, stream) as unknown as ParkedEvent[]
    return {
      checkpoint: storedCheckpoint(database, key, partition),
      rows: new Map(
        streams.flatMap((stream) => {
          const row = database.row(key, homeSet, stream)
          return row === undefined ? [] : [[stream, row]]
        }),
      ),
      parkedStreams: new Set([...streams, ...queues].filter(hasParked)),
      decidedKeys: new Set(keys.filter((each) => statements.key.get(key, each, partition) !== undefined)),
      queues: new Map(queues.map((stream) => [stream, queueOf(stream)])),
    }
  }

  async apply(generation: string, batch: Batch): Promise<ApplyResult> {
    let isActive = false
    const result = this.#database.write(
      (): ApplyResult => {
        const found = this.#database.generation(generation)
        if (found === undefined || found.state === 'replaced') return { outcome: 'generation_gone' }
        isActive = found.state === 'active'
        if (isActive && isPaused(found)) return { outcome: 'later' }
        return applyBatch(this.#database, found.key, batch)
      },
      ({ outcome }) => outcome === 'applied',
    )
    if (result.outcome === 'applied' && isActive) {
      const { partition, expected, checkpoint, withoutEffect } = batch
      this.#listeners.progress(generation, { partition, from: expected.next, next: checkpoint.next, withoutEffect })
    }
    return result
  }
}
