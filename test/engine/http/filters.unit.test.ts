import { Type } from 'typebox'
import { expect, it } from 'vitest'
import type { Definition } from '../../../src/engine/definition/definition.ts'
import { indexesOf } from '../../../src/engine/definition/indexes.ts'
import { theatre } from '../theatre/theatre.ts'
import { expectError, headerOf, testServer } from './test-services.ts'

const value = Type.Enum(['A-b', 'cat'], { type: 'string' })
/** Seats with two filters. */
const filters = { status: value, kind: value }
const home = { ...theatre.home, filters, indexes: indexesOf({ filters }) }
const definition: Definition = { ...theatre, kinds: [{ ...theatre.kinds[0], home }], resources: [home] }
const server = testServer(definition)
const list = (query: string) => server.get(`/v1/seats?limit=1${query}`)

it('a list has one filter at most', async () => {
  const message = 'query: status and kind cannot be used together'
  expectError(await list('&status=A-b&kind=cat'), 400, 'invalid_request', message)
})

it('a cursor belongs to one filter and its value, also where two have the same one', async () => {
  const indexes = { 1: ['status:A-b'], 2: ['kind:A-b', 'status:A-b'], 3: ['kind:A-b'] }
  for (const [id, each] of Object.entries(indexes))
    server.services.store({ collection: 'seats', id: Number(id), json: `{"id":${id}}`, indexKeys: each })
  const cursorOf = async (query: string) => /&cursor=[\w-]+/.exec(headerOf(await list(query), 'link'))?.[0]
  const [all, first, second] = [await cursorOf(''), await cursorOf('&status=A-b'), await cursorOf('&kind=A-b')]
  expect((await list(`&kind=A-b${second}`)).json()).toEqual([{ id: 3 }])
  for (const other of [all, first]) expectError(await list(`&kind=A-b${other}`), 400, 'invalid_cursor')
})
