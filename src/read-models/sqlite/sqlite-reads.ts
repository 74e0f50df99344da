import { type DocumentId, idOf, setName } from '../document.ts'
import type { Found, PageQuery, Proof, StoredPage, StoredReads, StoredStream, StreamQuery } from '../stored-reads.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import type { DocumentSet } from './sqlite-sets.ts'

/** The owner looks this often whether another process wrote. */
const lookMs = 250

/** What goes with every answer from a generation, as long as nothing is written. */
interface View {
  readonly generation: string
  readonly changes: number
  /** 0, which no generation has, when the generation is not there. */
  readonly key: number
  readonly proof: Proof
  readonly sets: ReadonlyMap<string, DocumentSet>
}

export class SqliteReads implements StoredReads {
  readonly #database: SqliteDatabase
  #view: View | undefined

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  async find(generation: string, { collection, id }: DocumentId): Promise<Found> {
    return this.#readQuickly(generation, ({ proof, sets }) => {
      const found = sets.get(collection)?.find(id)
      return { proof, document: found && { json: found[0], version: found[1] } }
    })
  }

  async page(generation: string, { collection, index, after, limit }: PageQuery): Promise<StoredPage> {
    return this.#readQuickly(generation, ({ proof, sets }) => {
      const found = sets.get(setName(collection, index))?.page(after, limit + 1) ?? []
      const shown = found.slice(0, limit).map(([json]) => json)
      const last = found.length > limit ? shown.at(-1) : undefined
      return { proof, documents: shown.join(','), count: shown.length, last: last === undefined ? last : idOf(last) }
    })
  }

  async load(generation: string, { stream, key, event }: StreamQuery): Promise<StoredStream> {
    const { statements } = this.#database
    return this.#read(generation, ({ proof, key: ofGeneration, sets }) => {
      return {
        proof,
        row: stream === undefined ? undefined : this.#database.row(ofGeneration, sets.get(this.#database.home), stream),
        hasParked: stream !== undefined && statements.hasParked.get(ofGeneration, stream) !== undefined,
        isParked:
          event !== undefined && statements.parkedAt.get(ofGeneration, event.partition, event.offset) !== undefined,
        decided: key === undefined ? undefined : this.#database.record(ofGeneration, key),
      }
    })
  }

  /**
   * As `#read`, but the owner does not ask the file each time. It knows what it wrote itself; all that another process
   * can do to its data is to activate another generation, or to remove one. What it answers from a generation that was
   * replaced meanwhile is still true: only the owner applies to an active generation, and notices as soon as it does.
   * A generation that was removed has no tables any more, and no other one has tables of these names.
   */
  #readQuickly<T>(generation: string, read: (view: View) => T): T {
    const view = this.#database.isOwner ? this.#known(generation) : undefined
    if (view === undefined || performance.now() - this.#database.lookedAt >= lookMs) return this.#read(generation, read)
    return this.#database.answer(() => {
      try {
        return read(view)
      } catch {
        // Its tables may have been removed: then it is not there, and anything else throws again.
        return this.#read(generation, read)
      }
    })
  }

  #read<T>(generation: string, read: (view: View) => T): T {
    return this.#database.read(() => {
      this.#view = this.#known(generation) ?? this.#readView(generation)
      return read(this.#view)
    })
  }

  #known(generation: string): View | undefined {
    const view = this.#view
    return view?.generation === generation && view.changes === this.#database.changes ? view : undefined
  }

  #readView(generation: string): View {
    const { changes, documentSets } = this.#database
    const key = this.#database.generation(generation)?.key ?? 0
    return {
      generation,
      changes,
      key,
      proof: {
        active: this.#database.inState('active')?.name,
        checkpoints: this.#database.checkpoints(key),
        // Unlike Redis, SQLite drops nothing by itself: counting a large table would only cost time.
        isComplete: true,
      },
      sets: new Map(
        this.#database.collections(key).map((collection) => [collection.name, documentSets.get(collection.key)]),
      ),
    }
  }
}
