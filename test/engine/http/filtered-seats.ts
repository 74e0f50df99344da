import { Type } from 'typebox'
import type { Definition } from '../../../src/engine/definition/definition.ts'
import { indexesOf } from '../../../src/engine/definition/indexes.ts'
import { Int64Schema } from '../../../src/engine/index.ts'
import { theatre } from '../theatre/theatre.ts'
import { testServer } from './test-services.ts'

const value = Type.Enum(['A-b', 'cat'], { type: 'string' })
/** Seats with filters of each kind: rows go with both enumerations, texts with one. */
const declared = {
  filters: {
    rowId: Int64Schema({ description: 'The row', examples: [7] }),
    status: value,
    kind: value,
    note: Type.String({ description: 'A note', maxLength: 500 }),
    seat: Type.String(),
    place: Type.Integer({ format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  },
  together: [
    ['rowId', 'status', 'kind'],
    ['note', 'status'],
  ],
}
const count = { path: '/v1/counts', by: 'status', operationId: 'countSeats', summary: 'Count the seats' }
const indexes = indexesOf(declared)
const home = { ...theatre.home, ...declared, count, indexes }
const definition: Definition = { ...theatre, kinds: [{ ...theatre.kinds[0], home }], resources: [home] }

/** A server for the tests of a file. */
export function filteredSeats() {
  const server = testServer(definition)
  return {
    server,
    list: (query: string, headers: Record<string, string> = {}) => server.get(`/v1/seats?${query}`, headers),
    counts: (query = '', headers: Record<string, string> = {}) => server.get(`/v1/counts${query}`, headers),
    /** Stores a seat with these values of filters. */
    store: (id: number, values: Values) =>
      server.services.store({ collection: 'seats', id, json: `{"id":${id}}`, indexKeys: indexes.keysOf(values) }),
  }
}

type Values = Parameters<typeof indexes.keysOf>[0]
