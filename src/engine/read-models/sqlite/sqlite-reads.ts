import { type DocumentId, type IndexKey, idOf, isKeyed, setName } from '../document.ts'
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
import type { DocumentSet, Documents, KeyedSet } from './document-sets.ts'
import { KeptAnswers } from './kept-answers.ts'
import type { SqliteDatabase } from './sqlite-database.ts'

/** How often the owner checks for writes of another process. */
const lookMs = 250

/** The part of every answer from a generation that stays the same while nothing is written. */
interface View {
  readonly generation: string
  readonly changes: number
  /** 0, which no generation has, if the generation does not exist. */
  readonly key: number
  readonly proof: Proof
  readonly sets: ReadonlyMap<string, DocumentSet>
  readonly keyedSets: ReadonlyMap<string, KeyedSet>
  readonly kept: KeptAnswers
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

  function pageOf(view: View, query: PageQuery): StoredPage {
    const { collection, indexKeys, after, limit, ids } = query
    if (ids !== undefined) return pageOfIds(view, query, ids)
    // No key has a NUL.
    const request = `${after} ${limit} ${[collection, ...(indexKeys ?? [])].join('\0')}`
    return view.kept.get(
      request,
      () => readPage(view, query),
      ({ documents }) => documents.length,
    )
  }

  function countOf(view: View, collection: string, indexKey: IndexKey): number {
    const set = setName(collection, indexKey)
    if (!isKeyed(set)) return database.recordedSize(view.sets.get(set)?.key)
    return view.kept.get(`${collection}\0${indexKey}`, () => view.keyedSets.get(set)?.count(indexKey) ?? 0)
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

    async count(generation, { collection, indexKeys }) {
      return readQuickly(generation, (view) => {
        return { proof: view.proof, counts: indexKeys.map((indexKey) => countOf(view, collection, indexKey)) }
      })
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

function readPage(view: View, { collection, indexKeys, after, limit }: PageQuery): StoredPage {
  const found = documentsAt(view, collection, indexKeys)?.page(after, limit + 1) ?? []
  const shown = found.slice(0, limit).map(([json]) => json)
  const documents = provenPage(setName(collection, indexKeys?.[0]), shown.join(','), shown.length)
  const last = found.length > limit ? shown.at(-1) : undefined
  return { proof: view.proof, documents, count: shown.length, last: last === undefined ? last : idOf(last) }
}

function pageOfIds(view: View, { collection, indexKeys }: PageQuery, ids: readonly number[]): StoredPage {
  const asked = documentsAt(view, collection, indexKeys)
  const documents = ids.flatMap((id) => {
    const [json] = asked?.find(id) ?? []
    if (json !== undefined) checkText({ collection, id }, json)
    return json ?? []
  })
  return { proof: view.proof, documents: documents.join(','), count: documents.length, last: undefined }
}

/** Undefined if their set never had an entry. */
function documentsAt(view: View, collection: string, indexKeys: PageQuery['indexKeys']): Documents | undefined {
  const set = setName(collection, indexKeys?.[0])
  return indexKeys !== undefined && isKeyed(set) ? view.keyedSets.get(set)?.under(indexKeys) : view.sets.get(set)
}

function viewOf(database: SqliteDatabase, generation: string): View {
  const generations = database.generations()
  const key = generations.find(({ name }) => name === generation)?.key ?? 0
  const sets = database.collections(key)
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
    sets: new Map(sets.filter(({ name }) => !isKeyed(name)).map(({ name, key }) => [name, database.documents(key)])),
    keyedSets: new Map(sets.filter(({ name }) => isKeyed(name)).map(({ name, key }) => [name, database.keyed(key)])),
    kept: new KeptAnswers(),
  }
}
