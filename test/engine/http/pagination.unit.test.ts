import fc from 'fast-check'
import { Type } from 'typebox'
import { describe, expect, it, onTestFinished } from 'vitest'
import { indexesOf } from '../../../src/engine/definition/indexes.ts'
import {
  readCursor,
  readHistoryCursor,
  writeCursor,
  writeHistoryCursor,
} from '../../../src/engine/http/values/tokens.ts'
import { anyCharacter } from '../../lib/any-character.ts'
import { bookingStatuses, type Seat, seatDocument, seatStatuses } from '../theatre/seats.ts'
import { theatre } from '../theatre/theatre.ts'
import { nextOf } from './contract/fixture.ts'
import { openServer, TestServices, testServer } from './test-services.ts'

const server = testServer()

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const name = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 128 }).filter((text) => /\S/.test(text))
const status = fc.constantFrom(...seatStatuses)
const maybeStatus = fc.option(status, { nil: undefined })

it('a valid NewSeat comes back as it was sent, from POST and from GET', async () => {
  await fc.assert(
    fc.asyncProperty(name, int64, maybeStatus, async (name, rowId, status) => {
      const rest = status === undefined ? '' : `,"status":"${status}"`
      const payload = `{"rowId":${rowId},"name":${JSON.stringify(name)}${rest}}`
      const created = await server.post('/v1/seats', payload)
      const id = server.services.events.length
      expect(created.body).toBe(seatDocument({ id, name, rowId, status: status ?? 'available' }))
      expect((await server.get(`/v1/seats/${id}`)).body).toBe(created.body)
    }),
    { examples: [['\u{1F436}'.repeat(128), 2n ** 63n - 1n, undefined]] },
  )
})

it('following the links visits each seat of the filter once, in order, with any limit', async () => {
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), { maxLength: 60 })
  const seats = ids.chain((ids) =>
    fc.tuple(...ids.sort((a, b) => a - b).map((id) => fc.tuple(fc.constant(id), status))),
  )
  const limit = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 100 }))
  await fc.assert(
    fc.asyncProperty(seats, limit, maybeStatus, async (seats, limit, filter) => {
      server.services.reset()
      for (const [id, status] of seats)
        server.services.store({ collection: 'seats', id, json: `{"id":${id}}`, indexKeys: [`status:${status}`] })
      const expected = seats.filter(([, status]) => filter === undefined || status === filter)
      const pages = await followLinks(`/v1/seats?limit=${limit}${filter === undefined ? '' : `&status=${filter}`}`)
      expect(pages.flat()).toEqual(expected.map(([id]) => id))
      expect(pages.map((page) => page.length)).toEqual(pageSizes(expected.length, limit))
    }),
  )
})

it('a list of a hundred ids has a hundred seats, and not a page of its usual size', async () => {
  server.services.reset()
  const ids = Array.from({ length: 100 }, (_, i) => i + 1)
  for (const _ of ids) server.services.add({ name: 'A12', rowId: 1, status: 'sold' })
  expect((await server.get(`/v1/seats?id=${ids}`)).json().map(({ id }: Seat) => id)).toEqual(ids)
})

it('a seat that is added meanwhile is on a later page', async () => {
  server.services.reset()
  for (const _ of [1, 2, 3]) server.services.add({ name: 'A12', rowId: 1, status: 'sold' })
  const first = await server.get('/v1/seats?limit=2')
  server.services.add({ name: 'Late', rowId: 1, status: 'sold' })
  expect((await followLinks(nextOf(first) ?? '')).flat()).toEqual([3, 4])
})

/** A list of three with each of these values, by a filter whose name has to be written in another way, too. */
it.each(['a&b=c', '"', '>; rel="help"', 'on hold', '100 %', '%26', '+', '#', 'é\u{1F436}', 'sold'])(
  'a link has %j of a filter as a URI has it, and leads to the next page of that filter',
  async (value) => {
    const filters = { 'kind of': Type.Enum([value, 'other'], { type: 'string' }) }
    const home = { ...theatre.home, filters, indexes: indexesOf({ filters }) }
    const services = new TestServices({ ...theatre, kinds: [{ ...theatre.kinds[0], home }], resources: [home] })
    const { get, app } = await openServer(services)
    onTestFinished(() => app.close())
    for (const id of [1, 2, 3])
      services.store({ collection: 'seats', id, json: `{"id":${id}}`, indexKeys: [`kind of:${value}`] })
    services.store({ collection: 'seats', id: 4, json: '{"id":4}', indexKeys: ['kind of:other'] })
    const pages: object[] = []
    const parameter = `${encodeURIComponent('kind of')}=${encodeURIComponent(value)}`
    for (let url: string | undefined = `/v1/seats?limit=1&${parameter}`; url !== undefined; ) {
      const answer: Answer = await get(url)
      pages.push(answer.json())
      url = nextOf(answer)
      // The characters of RFC 3986 alone
      if (url !== undefined) expect(url).toMatch(/^(?:[\w./?&=-]|%[\dA-F]{2})+$/)
      expect(url === undefined || url.includes(`?limit=1&${parameter}&cursor=`)).toBe(true)
    }
    expect(pages).toEqual([1, 2, 3].map((id) => [{ id }]))
  },
)

type Answer = Awaited<ReturnType<typeof server.get>>

/** The ids on each page. */
async function followLinks(first: string): Promise<number[][]> {
  const pages: number[][] = []
  for (let url: string | undefined = first; url !== undefined; ) {
    const response: Answer = await server.get(url)
    expect(response.statusCode).toBe(200)
    pages.push(response.json().map(({ id }: Seat) => id))
    url = nextOf(response)
  }
  return pages
}

/** There is one page at least, and never an empty one behind a full one. */
function pageSizes(count: number, limit: number): number[] {
  const full = new Array(Math.floor(count / limit)).fill(limit)
  return count % limit > 0 || count === 0 ? [...full, count % limit] : full
}

describe('a cursor', () => {
  const lists = ['', ...seatStatuses, 'bookings:', ...bookingStatuses.map((status) => `bookings:${status}`)]
  const expectRefused = (cursor: string, list?: string): void => {
    expect(() => readCursor(cursor, list)).toThrow(expect.objectContaining({ code: 'invalid_cursor' }))
  }

  it('returns its id for its own list, and is refused for every other', () => {
    const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
    fc.assert(
      fc.property(id, fc.constantFrom(...lists), (id, list) => {
        const cursor = writeCursor(id, list)
        expect(cursor).toMatch(/^[\w-]+$/)
        expect(readCursor(cursor, list)).toBe(id)
        for (const other of lists) if (other !== list) expectRefused(cursor, other)
      }),
    )
  })

  it('is refused with any one character changed, added or taken away', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= \n\0é'
    const list = 'bookings:placed'
    const cursor = writeCursor(987654321, list)
    for (let at = 0; at <= cursor.length; at++) {
      const [before, after] = [cursor.slice(0, at), cursor.slice(at + 1)]
      if (at < cursor.length) expectRefused(before + after, list)
      for (const character of alphabet) {
        if (character !== cursor[at]) expectRefused(before + character + after, list)
        expectRefused(before + character + cursor.slice(at), list)
      }
    }
  })

  it('is refused when it is anything else, or of an id that nothing can have', () => {
    const unsealed = ['1:5:', '1:5::0', '{}'].map(btoa)
    const others = ['', 'abc', '0', '=', 'null', ...unsealed, writeCursor(5, 'sold').repeat(2)]
    for (const other of others) expectRefused(other)
    fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => expectRefused(text)))
    for (const id of [0, -1, 2 ** 53, 1.5]) expectRefused(writeCursor(id))
  })

  it('of a history names a version, and one of several events of it; that of a list does not', () => {
    const list = 'versions:7'
    for (const place of [
      { version: 1 },
      { version: 2 ** 53 - 1 },
      { version: 12, index: 0 },
      { version: 3, index: 340 },
    ]) {
      const cursor = writeHistoryCursor(place, list)
      expect(readHistoryCursor(cursor, list)).toEqual({ index: undefined, ...place })
      expect(() => readHistoryCursor(cursor, 'versions:8')).toThrow('another list')
    }
    expectRefused(writeHistoryCursor({ version: 5, index: 1 }, 'sold'), 'sold')
    expect(readHistoryCursor(writeCursor(12, list), list)).toEqual({ version: 12 }) // of an earlier release
    for (const index of [-1, 1.5, 1e5])
      expect(() => readHistoryCursor(writeHistoryCursor({ version: 1, index }, list), list)).toThrow('list')
  })

  it('keeps its form as long as its version: pages begun before this release go on', () => {
    expect(writeCursor(20)).toBe('MToyMDo6ZmI1MGEwNTE')
    expect(writeCursor(42, 'sold')).toBe('MTo0Mjpzb2xkOjhjZDcwYWNm')
    expect(writeHistoryCursor({ version: 42 }, 'sold')).toBe(writeCursor(42, 'sold'))
  })
})
