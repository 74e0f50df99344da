import type { DocumentId } from '../document.ts'
import { chunksToLoad, loadedStream } from '../loaded-stream.ts'
import type { FoundJson, Proof, StoredReads, StoredStream, StreamQuery } from '../ports/reads.ts'
import { provenDocument } from '../proven-document.ts'
import { foundRow } from '../row-place.ts'
import { keyId, type StreamId } from '../stored-texts.ts'
import { chunkId } from '../stream-history.ts'
import type { StreamNames } from '../stream-names.ts'
import type { Answer, GroupReader, SetLookup } from './group-reader.ts'
import { countLookup, pageLookups, pageOf } from './page-lookups.ts'
import { decodeDocument, decodeShown } from './stored.ts'

export function redisReads(read: GroupReader, names: StreamNames): StoredReads {
  function documentOf({ collection, id }: DocumentId, member: string | null | undefined): FoundJson | undefined {
    if (member === null || member === undefined) return undefined
    const document = { collection, id }
    return provenDocument(document, decodeDocument(document, member), names)
  }

  /** The document that shows a stream, with what is behind it. */
  function homeDocument(stream: StreamId | undefined, member: string | undefined) {
    const document = stream === undefined ? undefined : names.documentOf(stream)
    return document === undefined || member === undefined ? undefined : decodeShown(document, member)
  }

  /**
   * Where to find what is stored of a stream: row, what is parked, the document that shows it. With a document alone the
   * name of its stream is known only when that is found, so the last is looked for in the collection of each kind.
   */
  function lookupsOf({ stream, document }: StreamQuery): readonly (SetLookup | undefined)[] {
    if (stream !== undefined) {
      const shown = names.documentOf(stream)
      return [
        { what: 'field', set: 'rows', of: stream },
        { what: 'field', set: 'parked', of: stream },
        shown && { what: 'member', set: shown.collection, of: shown.id },
      ]
    }
    if (document === undefined) return [undefined, undefined]
    const owners = names.collections.map((set) => ({ set, prefix: names.prefixOf(set) }))
    return [{ set: 'rows' }, { set: 'parked' }, ...owners].map((each) => ({ what: 'owner', of: 0, ...each }))
  }

  /** The lookups of a load, and what it answers when they are found. */
  function loadOf(query: StreamQuery) {
    const { document, key } = query
    const stream = query.stream ?? (document && names.streamOf(document))
    const chunks = chunksToLoad({ ...query, stream })
    const ofStream = lookupsOf({ stream, document })
    const all: (SetLookup | undefined)[] = [
      document && { what: 'member', set: document.collection, of: document.id },
      key && { what: 'field', set: 'keys', of: keyId(key) },
      ...ofStream,
      ...chunks.map((chunk): SetLookup => ({ what: 'field', set: 'history', of: chunkId(stream ?? '', chunk) })),
    ]
    const lookups = all.filter((each) => each !== undefined)
    function streamOf(proof: Proof, found: Answer['found']): StoredStream {
      const [shown, record, rowText, parkedText, ...more] = all.map((each) =>
        each ? (found[lookups.indexOf(each)] ?? undefined) : undefined,
      )
      const own = more.slice(0, ofStream.length - 2).find((each) => each !== undefined)
      const history = more.slice(ofStream.length - 2)
      const requestedDocument = document && documentOf(document, shown)
      const texts = {
        document: requestedDocument,
        ...foundRow(homeDocument(stream ?? requestedDocument?.stream, own), () => rowText),
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

    async page(generation, query, owner) {
      const { proof, found } = await read(generation, pageLookups(query), owner)
      return { proof, ...pageOf(query, found) }
    },

    async count(generation, { collection, indexKeys }, owner) {
      const { proof, found } = await read(
        generation,
        indexKeys.map((key) => countLookup(collection, key)),
        owner,
      )
      return { proof, counts: found.map(Number) }
    },

    async heldIds(generation, { collections, first, last }) {
      const range = { what: 'any', of: first, limit: last } as const
      const streams = names.collections.flatMap((collection) =>
        ['rows', 'parked'].map((set) => ({ ...range, set, prefix: names.prefixOf(collection) })),
      )
      const { proof, found } = await read(generation, [...collections.map((set) => ({ ...range, set })), ...streams])
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
