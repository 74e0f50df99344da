import { setName } from '../document.ts'
import { decodeIdempotencyRecord } from '../idempotency-record.ts'
import { parkedId } from '../parked-event.ts'
import type { StoredReads } from '../stored-reads.ts'
import { homeIdOf } from '../stream-row.ts'
import type { GroupReader, Lookup } from './group-reader.ts'
import { keyField } from './redis-keys.ts'
import { decodeDocument, decodeStream } from './stored.ts'

/** `home`: the collection whose documents show the streams of the same id. */
export function redisReads(read: GroupReader, home: string): StoredReads {
  return {
    async find(generation, { collection, id }) {
      const { proof, found } = await read(generation, [{ what: 'member', set: collection, of: id }])
      if (!found[0]) return { proof, document: undefined }
      const { json, version } = decodeDocument(found[0])
      return { proof, document: { json, version } }
    },

    async page(generation, { collection, index, after, limit }) {
      const lookup: Lookup = { what: 'page', set: setName(collection, index), of: after, limit }
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

    async load(generation, { stream, key, event }) {
      const id = stream === undefined ? undefined : homeIdOf(stream)
      const lookups: (Lookup | undefined)[] = [
        id === undefined ? undefined : { what: 'member', set: home, of: id },
        stream === undefined ? undefined : { what: 'field', set: 'rows', of: stream },
        stream === undefined ? undefined : { what: 'queued', set: 'parked-queue', of: stream },
        event === undefined ? undefined : { what: 'field', set: 'parked', of: parkedId(event) },
        key === undefined ? undefined : { what: 'field', set: 'keys', of: keyField(key) },
      ]
      const requested = lookups.filter((each) => each !== undefined)
      const { proof, found } = await read(generation, requested)
      const [shown, row, queued, parked, decided] = lookups.map((each) =>
        each ? found[requested.indexOf(each)] : null,
      )
      return {
        proof,
        row: stream === undefined ? undefined : decodeStream(stream, shown, row),
        hasParked: typeof queued === 'string',
        isParked: typeof parked === 'string',
        decided: key && typeof decided === 'string' ? decodeIdempotencyRecord(key, decided) : undefined,
      }
    },
  }
}
