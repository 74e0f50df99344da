import {
  beginningOf,
  documentsIn,
  type IndexKey,
  isKeyed,
  setName,
} from '../../../../src/engine/read-models/document.ts'
import type {
  PageQuery,
  StoredCounts,
  StoredPage,
  StoredReads,
} from '../../../../src/engine/read-models/ports/reads.ts'
import type { MemoryData } from '../../../../src/engine/testing/memory/memory-data.ts'
import { applying, breaking, type Fault } from './faults.ts'

/** Applies documents with other index keys than theirs. */
function applyingKeys(change: (before: readonly IndexKey[], after: readonly IndexKey[]) => readonly IndexKey[]): Fault {
  return applying(({ documents, ...batch }) => {
    const all = documents.map(({ before, after }) => {
      const keys = before === undefined || after === undefined ? undefined : change(before.indexKeys, after.indexKeys)
      return { before, after: after && { ...after, indexKeys: [...new Set(keys ?? after.indexKeys)] } }
    })
    return { ...batch, documents: all }
  })
}

type Merged = PageQuery & { readonly indexKeys: readonly IndexKey[] }

function isMerged(query: PageQuery): query is Merged {
  return query.ids === undefined && (query.indexKeys?.length ?? 0) > 1
}

/** The pages of the keys, one behind the other, up to the limit of all. */
async function keyByKey(own: StoredReads, name: string, query: Merged, limit: number): Promise<StoredPage> {
  const pages = await Promise.all(query.indexKeys.map((key) => own.page(name, { ...query, limit, indexKeys: [key] })))
  const all = pages.flatMap(({ documents }) => documentsIn(documents))
  const shown = all.slice(0, query.limit)
  const { proof, last } = await own.page(name, query)
  return { proof, last, documents: shown.map(({ json }) => json).join(','), count: shown.length }
}

/** A key, and those of stored documents whose value begins with its value. */
function likeIt(data: MemoryData, name: string, set: string, indexKey: IndexKey): readonly IndexKey[] {
  const withoutLength = (key: IndexKey) => (beginningOf(key) ?? '').replace(/^\d+:/, '').trimEnd()
  const stored = [...(data.version('v1').generations.get(name)?.documents(set).values() ?? [])]
  const keys = stored.flatMap(({ indexKeys }) => indexKeys.filter((key) => isKeyed(setName('', key))))
  return [indexKey, ...keys.filter((key) => withoutLength(key).startsWith(withoutLength(indexKey)))]
}

export const keyedCanaries: Readonly<Record<string, Fault>> = {
  'leaves a document under the key that it had too': applyingKeys((before, after) => [...before, ...after]),
  'forgets to move a document to another key': applyingKeys((before, after) => [
    ...after.filter((key) => !isKeyed(setName('', key))),
    ...before,
  ]),
  'changes no copy of a document that stays under its key': breaking('projection', (own) => ({
    apply(name, batch) {
      const documents = batch.documents.map(({ before, after }) => {
        const stays = after?.indexKeys.every((key) => before?.indexKeys.includes(key))
        return {
          before,
          after: stays && before !== undefined && after !== undefined ? { ...after, json: before.json } : after,
        }
      })
      return own.apply(name, { ...batch, documents })
    },
  })),
  'takes a value for another that begins like it': breaking('reads', (own, data) => ({
    page(name, query) {
      const keys = query.indexKeys?.flatMap((key) => likeIt(data, name, setName(query.collection, key), key))
      return own.page(name, { ...query, indexKeys: keys })
    },
  })),
  'reads one key after the other': breaking('reads', (own) => ({
    page: (name, query) => (isMerged(query) ? keyByKey(own, name, query, query.limit) : own.page(name, query)),
  })),
  'cuts before it merges': breaking('reads', (own) => ({
    async page(name, query) {
      if (!isMerged(query)) return own.page(name, query)
      const limit = Math.ceil(query.limit / query.indexKeys.length)
      const { documents, ...page } = await keyByKey(own, name, query, limit)
      const inOrder = documentsIn(documents).sort((a, b) => a.id - b.id)
      return { ...page, documents: inOrder.map(({ json }) => json).join(',') }
    },
  })),
  'reads the first key alone': breaking('reads', (own) => ({
    page: (name, query) => own.page(name, { ...query, indexKeys: query.indexKeys?.slice(0, 1) }),
  })),
  'finds ids under any key': breaking('reads', (own) => ({
    page(name, { indexKeys, ...query }) {
      return own.page(name, query.ids === undefined ? { ...query, indexKeys } : query)
    },
  })),
  'counts the set of a key': breaking('reads', (own, data) => ({
    async count(name, query) {
      const sizes = data.version('v1').generations.get(name)?.sizes()
      const sizeOf = (key: string) => sizes?.get(setName(query.collection, key))?.actual ?? 0
      return { ...(await own.count(name, query)), counts: query.indexKeys.map(sizeOf) }
    },
  })),
  'counts no more than once': breaking('reads', (own) => {
    const counts = new Map<string, Promise<StoredCounts>>()
    return {
      async count(name, query) {
        const key = JSON.stringify([name, query])
        const { counts: kept } = await (counts.get(key) ?? own.count(name, query))
        counts.set(key, Promise.resolve({ ...(await own.count(name, query)), counts: kept }))
        return { ...(await own.count(name, query)), counts: kept }
      },
    }
  }),
  'proves no count': breaking('reads', (own) => ({
    async count(name, query) {
      const { proof, counts } = await own.count(name, query)
      return { counts, proof: { ...proof, isComplete: true } }
    },
  })),
  'sorts entries as JavaScript sorts texts': breaking('inspection', (own) => ({
    async scan(name, set, from, limit) {
      if (!isKeyed(set)) return own.scan(name, set, from, limit)
      const all = await own.scan(name, set, undefined, 100_000)
      const left = all?.items
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .filter(([id]) => from === undefined || id >= from)
      return all && { ...all, items: left?.slice(0, limit) ?? [], next: left?.[limit]?.[0] }
    },
  })),
  'finds an entry by its beginning': breaking('inspection', (own) => ({
    async find(name, set, ids) {
      const all = await own.scan(name, set, undefined, 100_000)
      return own.find(
        name,
        set,
        ids.map((id) => all?.items.find(([each]) => each.startsWith(id))?.[0] ?? id),
      )
    },
  })),
}
