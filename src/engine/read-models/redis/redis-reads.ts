import { DamagedError } from '../damaged.ts'
import { type DocumentId, type StoredDocument, setName } from '../document.ts'
import { chunksToLoad, loadedStream } from '../loaded-stream.ts'
import type { FoundJson, Proof, StoredReads, StoredStream, StreamQuery } from '../ports/reads.ts'
import { checkText, provenDocument, provenPage } from '../proven-document.ts'
import { foundRow } from '../row-place.ts'
import { homeIdOf, keyId, type StreamId } from '../stored-texts.ts'
import { chunkId } from '../stream-history.ts'
import type { Answer, GroupReader, SetLookup } from './group-reader.ts'
import { decodeDocument, decodeShown } from './stored.ts'

/** `member`: the entry of a document in a collection or an index. */
function jsonOf(document: DocumentId, member: string): string {
  const [json = ''] = member.split('\0', 1)
  checkText(document, json)
  return json
}

/** `home`: the collection whose documents show the streams of the same id. */
export function redisReads(read: GroupReader, home: string): StoredReads {
  function documentOf({ collection, id }: DocumentId, member: string | null | undefined): FoundJson | undefined {
    if (member === null || member === undefined) return undefined
    const document = { collection, id }
    return provenDocument(document, decodeDocument(document, member), home)
  }

  /** The document that shows a stream, with what is behind it. */
  function homeDocument(stream: StreamId | undefined, member: string): Pick<StoredDocument, 'json' | 'behind'> {
    return decodeShown({ collection: home, id: Number(stream) }, member)
  }

  /** Where to find what is stored of a stream; with the document alone its name is known only when that is found. */
  function lookupsOf({ stream, document }: StreamQuery): readonly (SetLookup | undefined)[] {
    if (stream === undefined && document === undefined) return []
    if (stream === undefined) return [home, 'rows', 'parked'].map((set) => ({ what: 'owner', set, of: 0 }))
    const id = homeIdOf(stream)
    return [
      id === undefined ? undefined : { what: 'member', set: home, of: id },
      { what: 'field', set: 'rows', of: stream },
      { what: 'field', set: 'parked', of: stream },
    ]
  }

  /** The lookups of a load, and what it answers when they are found. */
  function loadOf(query: StreamQuery) {
    const { document, key } = query
    const stream = query.stream ?? (document?.collection === home ? String(document.id) : undefined)
    const chunks = chunksToLoad({ ...query, stream })
    const [member, row, parked] = lookupsOf({ stream, document })
    const all: (SetLookup | undefined)[] = [
      document && { what: 'member', set: document.collection, of: document.id },
      ...[member, row, parked],
      key && { what: 'field', set: 'keys', of: keyId(key) },
      ...chunks.map((chunk): SetLookup => ({ what: 'field', set: 'history', of: chunkId(stream ?? '', chunk) })),
    ]
    const lookups = all.filter((each) => each !== undefined)
    function streamOf(proof: Proof, found: Answer['found']): StoredStream {
      const [shown, own, rowText, parkedText, record, ...history] = all.map((each) =>
        each ? (found[lookups.indexOf(each)] ?? undefined) : undefined,
      )
      const requestedDocument = document && documentOf(document, shown)
      const texts = {
        document: requestedDocument,
        ...foundRow(
          own === undefined ? undefined : homeDocument(stream ?? requestedDocument?.stream, own),
          () => rowText,
        ),
        parked: parkedText,
        record,
        chunk: (number: number) => history[chunks.indexOf(number)],
      }
      return loadedStream(query, texts, proof)
    }
    return { lookups, streamOf }
  }

  return {
    async find(generation, { collection, id }, owner) {
      const { proof, found } = await read(generation, [{ what: 'member', set: collection, of: id }], owner)
      return { proof, document: documentOf({ collection, id }, found[0]) }
    },

    async page(generation, { collection, index, after, limit, ids }, owner) {
      const set = setName(collection, index)
      if (ids !== undefined) {
        const { proof, found } = await read(
          generation,
          ids.map((id) => ({ what: 'member', set, of: id })),
          owner,
        )
        const documents = found.flatMap((member, i) =>
          member !== null ? jsonOf({ collection, id: ids[i] ?? 0 }, member) : [],
        )
        return { proof, documents: documents.join(','), count: documents.length, last: undefined }
      }
      const lookup: SetLookup = { what: 'page', set, of: after, limit }
      const { proof, found } = await read(generation, [lookup], owner)
      const page = found[0] ?? ''
      const head = /^(\d+) (\d+|-),?/.exec(page)
      if (head === null) throw new DamagedError(`a page of ${set} ends in a text that is not a document`)
      const count = Number(head[1])
      return {
        proof,
        documents: provenPage(set, page.slice(head[0].length), count),
        count,
        last: head[2] === '-' ? undefined : Number(head[2]),
      }
    },

    async heldIds(generation, { collections, first, last }) {
      const sets = [...collections, 'rows', 'parked']
      const { proof, found } = await read(
        generation,
        sets.map((set) => ({ what: 'any', set, of: first, limit: last })),
      )
      return { proof, holdsAny: found.some((each) => each !== null) }
    },

    async load(generation, query, owner) {
      const { lookups, streamOf } = loadOf(query)
      const { proof, found } = await read(generation, lookups, owner)
      return streamOf(proof, found)
    },

    async loadAll(generation, queries, owner) {
      const loads = queries.map(loadOf)
      const { proof, found } = await read(
        generation,
        loads.flatMap(({ lookups }) => lookups),
        owner,
      )
      let at = 0
      return loads.map(({ lookups, streamOf }) => {
        const own = found.slice(at, at + lookups.length)
        at += lookups.length
        return streamOf(proof, own)
      })
    },
  }
}
