import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import type { DocumentFilter } from '../../../src/engine/console/answers.ts'
import { listsOf } from '../../../src/engine/console/lists.ts'
import { indexesOf } from '../../../src/engine/definition/indexes.ts'
import { Int64Schema } from '../../../src/engine/index.ts'
import { useTheatre } from './console-theatre.ts'

const oneOf = (...values: string[]) => Type.Enum(values, { type: 'string' })
const declared = {
  filters: {
    status: oneOf('in', 'lent'),
    kind: oneOf('novel', 'atlas'),
    shelfId: Int64Schema({ description: 'Where it stands' }),
    title: Type.String(),
    isbn: Type.String(),
  },
  together: [
    ['title', 'status', 'kind'],
    ['kind', 'shelfId'],
  ],
}
const texts = { operationId: 'countBooks', summary: 'Count the books' }
const books = { path: '/v1/old/books', idName: 'bookId', ...declared }

describe('how documents are listed', () => {
  it('names the filters, their values, what goes together, and what is counted', () => {
    const filter = (name: string, more: object) => ({ name, values: undefined, isInteger: false, beside: [], ...more })
    expect(listsOf([{ ...books, count: { ...texts, path: '/v1/old/stock', by: 'status' } }])).toEqual([
      {
        ...{ name: 'old/books', path: 'v1/old/books', one: 'v1/old/books/{bookId}', parameter: 'bookId' },
        filters: [
          filter('status', { values: ['in', 'lent'] }),
          filter('kind', { values: ['novel', 'atlas'] }),
          filter('shelfId', { isInteger: true, beside: ['kind'] }),
          filter('title', { beside: ['status', 'kind'] }),
          filter('isbn', {}),
        ],
        counts: { path: 'v1/old/stock', by: 'status', within: ['title'] },
      },
    ])
  })

  it('is asked for by the page', async () => {
    const { body } = await ask('console/api/lists')
    expect(body).toMatchObject([
      { name: 'seats', path: 'v1/seats', one: 'v1/seats/{seatId}', parameter: 'seatId', filters: [{ name: 'status' }] },
      { name: 'bookings' },
    ])
  })
})

/** What the page says of filters, as the browser has it. */
interface Page {
  refusing(filters: readonly DocumentFilter[], chosen: readonly string[], name: string): string[]
}
const { refusing }: Page = await import(new URL('../../../src/engine/console/page/together.js', import.meta.url).href)
const { ask } = useTheatre()

describe('what the page offers', () => {
  const [{ filters } = { filters: [] }] = listsOf([books])
  const names = Object.keys(declared.filters)
  const { keysFor } = indexesOf(declared)
  const isFound = (chosen: readonly string[]) =>
    keysFor(Object.fromEntries(chosen.map((name) => [name, 'in']))) !== undefined
  /** All that can be chosen of the names. */
  const choices = Array.from({ length: 2 ** names.length }, (_, bits) =>
    names.filter((_name, i) => (bits >> i) % 2 === 1),
  )

  it('is what the service finds documents by together, and no more', () => {
    const asked = choices.filter((chosen) => chosen.length === 0 || isFound(chosen))
    expect(asked.length).toBeGreaterThan(names.length)
    for (const chosen of asked)
      for (const name of names.filter((each) => !chosen.includes(each)))
        expect([chosen, name, refusing(filters, chosen, name).length === 0]).toEqual([
          chosen,
          name,
          isFound([...chosen, name]),
        ])
  })

  it('names what another filter does not go with', () => {
    expect(refusing(filters, ['title', 'kind'], 'shelfId')).toEqual(['title'])
    expect(refusing(filters, ['shelfId', 'kind'], 'status')).toEqual(['shelfId', 'kind'])
  })

  it('is always what can be taken back', () => {
    for (const chosen of choices) for (const name of chosen) expect(refusing(filters, chosen, name)).toEqual([])
  })
})
