import { type DocumentId, setName } from '../document.ts'
import { decodeIdempotencyRecord } from '../idempotency-record.ts'
import { parkedId } from '../parked-event.ts'
import type { Found, PageQuery, StoredPage, StoredReads, StoredStream, StreamQuery } from '../stored-reads.ts'
import { homeIdOf } from '../stream-row.ts'
import type { FieldLook, GroupReader, Look } from './group-reader.ts'
import { keyField } from './redis-keys.ts'
import { decodeMember, decodeStream } from './stored-stream.ts'

export class RedisReads implements StoredReads {
  readonly #reader: GroupReader
  readonly #home: string

  /** `home`: the collection whose documents show the streams of the same id. */
  constructor(reader: GroupReader, home: string) {
    this.#reader = reader
    this.#home = home
  }

  async find(generation: string, { collection, id }: DocumentId): Promise<Found> {
    const { proof, found } = await this.#reader.read(generation, [member(collection, id)])
    if (!found[0]) return { proof, document: undefined }
    const { json, version } = decodeMember(found[0])
    return { proof, document: { json, version } }
  }

  async page(generation: string, { collection, index, after, limit }: PageQuery): Promise<StoredPage> {
    const kind = index === undefined ? 'collection' : 'index'
    const look = { what: 'page', kind, set: setName(collection, index), after, limit } as const
    const { proof, found } = await this.#reader.read(generation, [look])
    const page = found[0] ?? ''
    const head = /^(\d+) (\d+|-),?/.exec(page)
    if (head === null) throw new Error(`read.lua returned ${page}`)
    return {
      proof,
      documents: page.slice(head[0].length),
      count: Number(head[1]),
      last: head[2] === '-' ? undefined : Number(head[2]),
    }
  }

  async load(generation: string, { stream, key, event }: StreamQuery): Promise<StoredStream> {
    const id = stream === undefined ? undefined : homeIdOf(stream)
    const looks: (Look | undefined)[] = [
      id === undefined ? undefined : member(this.#home, id),
      stream === undefined ? undefined : field('rows', stream),
      stream === undefined ? undefined : field('parked-streams', stream, 'exists'),
      event === undefined ? undefined : field('parked', parkedId(event), 'exists'),
      key === undefined ? undefined : field('keys', keyField(key)),
    ]
    const asked = looks.filter((look) => look !== undefined)
    const { proof, found } = await this.#reader.read(generation, asked)
    const [shown, row, hasParked, isParked, decided] = looks.map((look) =>
      look === undefined ? undefined : (found[asked.indexOf(look)] ?? undefined),
    )
    return {
      proof,
      row: stream === undefined ? undefined : decodeStream(stream, shown, row),
      hasParked: hasParked !== undefined,
      isParked: isParked !== undefined,
      decided: key === undefined || decided === undefined ? undefined : decodeIdempotencyRecord(key, decided),
    }
  }
}

function member(collection: string, id: number): Look {
  return { what: 'member', kind: 'collection', set: collection, id }
}

function field(
  set: 'rows' | 'keys' | 'parked' | 'parked-streams',
  name: string,
  what: FieldLook['what'] = 'field',
): Look {
  return { what, kind: 'hash', set, field: name }
}
