import { type DocumentId, setName } from '../document.ts'
import { chunksToLoad, loadedStream } from '../loaded-stream.ts'
import type { FoundDocument, StoredReads, StreamQuery } from '../store.ts'
import { homeIdOf, keyId } from '../stored-texts.ts'
import { chunkId } from '../stream-history.ts'
import type { GroupReader, Lookup } from './group-reader.ts'
import { decodeDocument } from './stored.ts'

/** `home`: the collection whose documents show the streams of the same id. */
export function redisReads(read: GroupReader, home: string): StoredReads {
  function documentOf({ collection, id }: DocumentId, member: string | null | undefined): FoundDocument | undefined {
    if (!member) return undefined
    const { json, behind } = decodeDocument(member)
    return { json, stream: collection === home ? String(id) : behind }
  }

  /** Where to find what is stored of a stream; with the document alone its name is known only when that is found. */
  function lookupsOf({ stream, document }: StreamQuery): readonly (Lookup | undefined)[] {
    if (stream === undefined && document === undefined) return []
    if (stream === undefined) return [home, 'rows', 'parked'].map((set) => ({ what: 'owner', set, of: 0 }))
    const id = homeIdOf(stream)
    return [
      id === undefined ? undefined : { what: 'member', set: home, of: id },
      { what: 'field', set: 'rows', of: stream },
      { what: 'field', set: 'parked', of: stream },
    ]
  }

  return {
    async find(generation, { collection, id }) {
      const { proof, found } = await read(generation, [{ what: 'member', set: collection, of: id }])
      return { proof, document: documentOf({ collection, id }, found[0]) }
    },

    async page(generation, { collection, index, after, limit, ids }) {
      const set = setName(collection, index)
      if (ids !== undefined) {
        const { proof, found } = await read(
          generation,
          ids.map((id) => ({ what: 'member', set, of: id })),
        )
        const documents = found.flatMap((member) => (member ? member.split('\0', 1) : []))
        return { proof, documents: documents.join(','), count: documents.length, last: undefined }
      }
      const lookup: Lookup = { what: 'page', set, of: after, limit }
      const { proof, found } = await read(generation, [lookup])
      const page = found[0] ?? ''
      const head = /^(\d+) (\d+|-),?/.exec(page)
      if (head === null) throw new Error(`read.lua returned ${page}`)
      return {
        proof,
        documents: page.slice(head[0].length),
        count: Number(head[1]),
        last: head[2] === '-' ? undefined : Number(head[2]),
      }
    },

    async load(generation, query) {
      const { document, key } = query
      const stream = query.stream ?? (document?.collection === home ? String(document.id) : undefined)
      const chunks = chunksToLoad({ ...query, stream })
      const [member, row, parked] = lookupsOf({ stream, document })
      const lookups: (Lookup | undefined)[] = [
        document && { what: 'member', set: document.collection, of: document.id },
        ...[member, row, parked],
        key && { what: 'field', set: 'keys', of: keyId(key) },
        ...chunks.map((chunk): Lookup => ({ what: 'field', set: 'history', of: chunkId(stream ?? '', chunk) })),
      ]
      const requested = lookups.filter((each) => each !== undefined)
      const { proof, found } = await read(generation, requested)
      const [shown, own, rowText, parkedText, record, ...history] = lookups.map((each) =>
        each ? (found[requested.indexOf(each)] ?? undefined) : undefined,
      )
      const shows = own === undefined ? undefined : decodeDocument(own)
      const texts = {
        document: document && documentOf(document, shown),
        json: shows?.json,
        row: shows?.behind ?? rowText,
        parked: parkedText,
        record,
        chunk: (number: number) => history[chunks.indexOf(number)],
      }
      return loadedStream(query, texts, proof)
    },
  }
}
