import { type DocumentId, type StoredDocument, setName, type TextSet, textSets } from '../../read-models/document.ts'
import { loadedStream } from '../../read-models/loaded-stream.ts'
import type { Proof, StoredReads } from '../../read-models/ports/reads.ts'
import { checkText, provenDocument, provenPage } from '../../read-models/proven-document.ts'
import { keyId } from '../../read-models/stored-texts.ts'
import { chunkId } from '../../read-models/stream-history.ts'
import type { GenerationData } from './memory-data.ts'
import type { MemoryStore } from './opened-store.ts'
import { inOrder } from './opened-store.ts'

export function readsOf(store: MemoryStore): StoredReads {
  const proofOf = (generation: GenerationData | undefined, ...sets: string[]): Proof => {
    return { ...store.snapshot(generation), isComplete: generation?.isComplete(...sets) ?? true }
  }
  const findIn = (generation: GenerationData | undefined, { collection, id }: DocumentId) => {
    const found = generation?.documents(collection).get(id)
    return found && provenDocument({ collection, id }, found, store.names)
  }
  const load: StoredReads['load'] = async (name, query) => {
    const generation = store.generation(name)
    const document = query.document && findIn(generation, query.document)
    const stream = query.stream ?? document?.stream
    const read = [
      ...new Set([...store.names.collections, ...textSets, ...(query.document ? [query.document.collection] : [])]),
    ]
    const text = (set: TextSet, id: string | undefined) => (id === undefined ? undefined : generation?.text(set, id))
    const texts = {
      ...{ document, parked: text('parked', stream), record: text('keys', query.key && keyId(query.key)) },
      ...(stream === undefined ? {} : generation?.row(stream)),
      chunk: (number: number) => text('history', stream && chunkId(stream, number)),
    }
    return loadedStream(query, texts, proofOf(generation, ...read))
  }
  return {
    load,
    loadAll: (name, queries) => Promise.all(queries.map((query) => load(name, query))),

    async find(name, document) {
      const generation = store.generation(name)
      return { proof: proofOf(generation, document.collection), document: findIn(generation, document) }
    },

    async page(name, { collection, indexKeys, after, limit, ids }) {
      const generation = store.generation(name)
      const set = setName(collection, indexKeys?.[0])
      const isAsked = ({ id, indexKeys: has }: StoredDocument) =>
        id > after && ids?.includes(id) !== false && indexKeys?.some((key) => has.includes(key)) !== false
      const behind = inOrder(generation, set).filter(isAsked)
      const shown = behind.slice(0, limit)
      const last = behind.length > limit ? shown.at(-1)?.id : undefined
      const documents = provenPage(set, shown.map(({ json }) => json).join(','), shown.length)
      if (ids !== undefined) for (const each of shown) checkText(each, each.json)
      return { proof: proofOf(generation, set), documents, count: shown.length, last }
    },

    async count(name, { collection, indexKeys }) {
      const generation = store.generation(name)
      const sets = indexKeys.map((key) => setName(collection, key))
      const counts = indexKeys.map(
        (key, i) => inOrder(generation, sets[i] ?? '').filter((document) => document.indexKeys.includes(key)).length,
      )
      return { proof: proofOf(generation, ...sets), counts }
    },

    async heldIds(name, { collections, first, last }) {
      const generation = store.generation(name)
      const isIn = (id: number | undefined) => id !== undefined && id >= first && id <= last
      const idsIn = (set: string) =>
        [...(generation?.set(set).keys() ?? [])].map((id) =>
          typeof id === 'number' ? id : store.names.documentOf(id)?.id,
        )
      const sets = [...collections, 'rows', 'parked']
      const holdsAny = sets.some((set) => idsIn(set).some(isIn))
      return { proof: proofOf(generation, ...sets), holdsAny }
    },
  }
}
