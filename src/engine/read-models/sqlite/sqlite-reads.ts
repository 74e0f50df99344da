import { type DocumentId, idOf, setName } from '../document.ts'
import { loadedStream } from '../loaded-stream.ts'
import type {
  FoundJson,
  IdRange,
  PageQuery,
  Proof,
  StoredPage,
  StoredReads,
  StoredStream,
  StreamQuery,
} from '../ports/reads.ts'
import { checkText, provenDocument, provenPage } from '../proven-document.ts'
import { keyId } from '../stored-texts.ts'
import { chunkId } from '../stream-history.ts'
import type { DocumentSet } from './sqlite-connection.ts'
import type { SqliteDatabase } from './sqlite-database.ts'

/** How often the owner checks for writes of another process. */
const lookMs = 250
const keptCharactersMax = 4_000_000
/** What a page takes besides its documents: requests decide how many pages without any there are. */
const charactersOfPage = 200

/** The part of every answer from a generation that stays the same while nothing is written. */
interface View {
  readonly generation: string
  readonly changes: number
  /** 0, which no generation has, if the generation does not exist. */
  readonly key: number
  readonly proof: Proof
  readonly sets: ReadonlyMap<string, DocumentSet>
  /** Pages already read, by request: a GET of one costs 25 us of CPU instead of 42. */
  readonly pages: Map<string, StoredPage>
  pageCharacters: number
}

export function sqliteReads(database: SqliteDatabase): StoredReads {
  const { names } = database.options
  let lastView: View | undefined

  function known(generation: string): View | undefined {
    return lastView?.generation === generation && lastView.changes === database.changes ? lastView : undefined
  }

  function read<T>(generation: string, work: (view: View) => T): T {
    return database.read(() => {
      lastView = known(generation) ?? viewOf(database, generation)
      return work(lastView)
    })
  }

  /**
   * As `read`, but the owner does not ask the file each time. It knows its own writes, and the only thing that another
   * process can do to its data is to activate or remove a generation. An answer from a generation that was replaced
   * meanwhile is still true: only the owner applies to an active generation, and notices as soon as it does. A removed
   * generation has no tables any more, and no other generation gets tables of the same names. Its last pages may be
   * sent until the next check, with the proof that they were read with.
   */
  function readQuickly<T>(generation: string, work: (view: View) => T): T {
    const view = database.options.isOwner ? known(generation) : undefined
    if (view === undefined || performance.now() - database.lookedAt >= lookMs) return read(generation, work)
    return database.answer(() => {
      try {
        return work(view)
      } catch {
        // The tables may have been removed: the generation then does not exist. Any other error is thrown again.
        return read(generation, work)
      }
    })
  }

  function findIn({ sets }: View, { collection, id }: DocumentId): FoundJson | undefined {
    const [json, behind] = sets.get(collection)?.find(id) ?? []
    return json === undefined ? undefined : provenDocument({ collection, id }, { json, behind: behind ?? '' }, names)
  }

  function pageOf(view: View, { collection, indexKeys, after, limit, ids }: PageQuery): StoredPage {
    const set = setName(collection, indexKeys?.[0])
    if (ids !== undefined) {
      const documents = ids.flatMap((id) => {
        const [json] = view.sets.get(set)?.find(id) ?? []
        if (json !== undefined) checkText({ collection, id }, json)
        return json ?? []
      })
      return { proof: view.proof, documents: documents.join(','), count: documents.length, last: undefined }
    }
    const pageKey = `${set} ${after} ${limit}`
    const known = view.pages.get(pageKey)
    if (known !== undefined) return known
    const found = view.sets.get(set)?.page(after, limit + 1) ?? []
    const shown = found.slice(0, limit).map(([json]) => json)
    const documents = provenPage(set, shown.join(','), shown.length)
    const last = found.length > limit ? shown.at(-1) : undefined
    const page = { proof: view.proof, documents, count: shown.length, last: last === undefined ? last : idOf(last) }
    const characters = charactersOfPage + documents.length
    if (view.pageCharacters + characters > keptCharactersMax) {
      view.pages.clear()
      view.pageCharacters = 0
    }
    view.pages.set(pageKey, page)
    view.pageCharacters += characters
    return page
  }

  function holdsAny({ key, sets }: View, { collections, first, last }: IdRange): boolean {
    const isShown = collections.some((name) => {
      const [next] = sets.get(name)?.page(first - 1, 1) ?? []
      return next !== undefined && idOf(next[0]) <= last
    })
    if (isShown) return true
    const ids = Array.from({ length: last - first + 1 }, (_, i) => first + i)
    const streams = JSON.stringify(
      names.collections.flatMap((collection) => ids.map((id) => names.keyOf({ collection, id }))),
    )
    const found = database.get`
      SELECT 1 FROM text WHERE generation = ${key} AND name IN ('rows', 'parked')
      AND id IN (SELECT value FROM json_each(${streams})) LIMIT 1`
    return found !== undefined
  }

  function loadIn(view: View, query: StreamQuery): StoredStream {
    const { proof, key: ofGeneration, sets } = view
    const document = query.document && findIn(view, query.document)
    const stream = query.stream ?? document?.stream
    const ofStream = stream !== undefined && {
      ...database.row(ofGeneration, stream, (collection) => sets.get(collection)),
      parked: database.text(ofGeneration, 'parked', stream),
    }
    const record = query.key && database.text(ofGeneration, 'keys', keyId(query.key))
    const chunk = (number: number) => database.text(ofGeneration, 'history', chunkId(stream ?? '', number))
    return loadedStream(query, { document, ...ofStream, record, chunk }, proof)
  }

  return {
    async find(generation, document) {
      return readQuickly(generation, (view) => ({ proof: view.proof, document: findIn(view, document) }))
    },

    async page(generation, query) {
      return readQuickly(generation, (view) => pageOf(view, query))
    },

    async count() {
      throw new Error('to be built')
    },

    async heldIds(generation, range) {
      return read(generation, (view) => ({ proof: view.proof, holdsAny: holdsAny(view, range) }))
    },

    async load(generation, query) {
      return read(generation, (view) => loadIn(view, query))
    },

    async loadAll(generation, queries) {
      return read(generation, (view) => queries.map((query) => loadIn(view, query)))
    },
  }
}

function viewOf(database: SqliteDatabase, generation: string): View {
  const generations = database.generations()
  const key = generations.find(({ name }) => name === generation)?.key ?? 0
  return {
    generation,
    changes: database.changes,
    key,
    proof: {
      active: generations.find(({ state }) => state === 'active')?.name,
      checkpoints: database.checkpoints(key),
      // Unlike Redis, SQLite loses nothing by itself: counting a large table would only take time.
      isComplete: true,
    },
    sets: new Map(database.collections(key).map((collection) => [collection.name, database.documents(collection.key)])),
    pages: new Map(),
    pageCharacters: 0,
  }
}
