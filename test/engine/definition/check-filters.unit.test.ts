import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { library } from '../../../examples/loans/library.ts'
import { checkDefinition } from '../../../src/engine/definition/check.ts'
import { define } from '../../../src/engine/definition/definition.ts'
import { Int64Schema, type Projection, type Resource, type Service } from '../../../src/engine/index.ts'

const { service } = library
const { books, loans } = service.resources as Readonly<Record<'books' | 'loans', Resource>>
const [stream] = service.streams
const status = loans.filters?.status ?? expect.fail('loans have no status')
const bookId = Int64Schema({ description: 'The book' })
const values = (count: number) =>
  Type.Enum(
    Array.from({ length: count }, (_, i) => `v${i}`),
    { type: 'string' },
  )

const withLoans = (over: object): Partial<Service> => ({
  resources: { ...service.resources, loans: { ...loans, ...over } },
})
const withFilter = (name: string, filter: object) =>
  withLoans({ filters: { ...loans.filters, [name]: filter } as Resource['filters'] })
const withTogether = (...together: string[][]) =>
  withLoans({ filters: { ...loans.filters, note: Type.String(), many: values(5), more: values(3) }, together })
const counted = { path: '/v1/counts', by: 'status', operationId: 'countLoans', summary: 'Count the loans' }
const withCount = (over: object) => withLoans({ count: { ...counted, ...over } })
const refusalOf = (over: Partial<Service>) => () => checkDefinition(define({ ...service, ...over }))

/** The projections, which name these values of filters of loans instead. */
function showing(filtersOf: (filters: object) => object): Partial<Service> {
  const projections = (stream?.projections ?? []).map(
    ({ documents, ...projection }): Projection<unknown> => ({
      ...projection,
      documents: (state) =>
        documents(state).map((each) =>
          each.collection === 'loans'
            ? { ...each, filters: filtersOf(each.filters ?? {}) as typeof each.filters }
            : each,
        ) as ReturnType<typeof documents>,
    }),
  )
  return { streams: [{ ...stream, projections }] } as unknown as Partial<Service>
}

const isNone = 'it is neither an enumeration of texts, nor an integer of the format int64, nor a text'

describe('a start refuses, and names the place of', () => {
  it.each<[what: string, over: Partial<Service>, message: string]>([
    [
      'a filter that is no name',
      withFilter('is in', status),
      'resources.loans.filters.is in: it must be a name of letters',
    ],
    ...['limit', 'cursor', 'id'].map((name): [string, Partial<Service>, string] => [
      `a filter named ${name}`,
      withFilter(name, bookId),
      `resources.loans.filters.${name}: the engine has a parameter of this name`,
    ]),
    ...Object.entries({
      'an integer that is no int64': Type.Integer(),
      'a number': Type.Number({ format: 'int64' }),
      'a boolean': Type.Boolean(),
      'a list': Type.Array(bookId),
      'one of several schemas': Type.Union([bookId, Type.String()]),
      'an enumeration of integers': { type: 'integer', enum: [1, 2] },
      'an enumeration of texts with spaces': { type: 'string', enum: ['on hold'] },
    }).map(([what, filter]): [string, Partial<Service>, string] => [
      `a filter that is ${what}`,
      withFilter('due', filter),
      `resources.loans.filters.due: ${isNone}`,
    ]),
    [
      'an unknown format of a filter',
      withFilter('due', Type.String({ format: 'tme' })),
      'resources.loans.filters.due: unknown format "tme": ',
    ],
    [
      'what goes together with no filter',
      withTogether(['bookId', 'colour']),
      'resources.loans.together: bookId and colour: colour is no filter',
    ],
    [
      'one that goes together with itself',
      withTogether(['bookId', 'status', 'status']),
      'resources.loans.together: bookId and status and status: one is named twice',
    ],
    ...[['status', 'many'], ['bookId', 'memberId'], ['bookId', 'note', 'status'], ['bookId'], ['status'], []].map(
      (names): [string, Partial<Service>, string] => [
        `what cannot go together: ${names.join(' and ')}`,
        withTogether(names),
        `resources.loans.together: ${names.join(' and ')}: it must name one int64 or text, and one enumeration at least`,
      ],
    ),
    [
      'a filter with two lists',
      withTogether(['bookId', 'status'], ['bookId', 'many']),
      'resources.loans.together: bookId is in two lists: one has all that it goes with',
    ],
    [
      'too many ranges',
      withTogether(['bookId', 'status', 'many']), // (2 + 1) * (5 + 1)
      'resources.loans.together: bookId and status and many: a list by bookId alone would be merged from 18 ranges: 16 at most',
    ],
    ...['/counts', '/v1/', '/v1/counts/', '/v1/loans/:loanId/count', '/v1/loans?count'].map(
      (path): [string, Partial<Service>, string] => [
        `a count at ${path}`,
        withCount({ path }),
        `resources.loans.count.path: ${path} must begin with /v1/, without a slash at its end`,
      ],
    ),
    ...['bookId', 'due', ''].map((by): [string, Partial<Service>, string] => [
      `a count by ${by}`,
      withCount({ by }),
      `resources.loans.count.by: ${by} is no filter that is an enumeration`,
    ]),
    ...['/v1/loans', '/v1/books', '/v1/events'].map((path): [string, Partial<Service>, string] => [
      `a count where ${path} is`,
      withCount({ path }),
      `two have the path ${path}`,
    ]),
    ['a list where the events are', withLoans({ path: '/v1/events' }), 'two have the path /v1/events'],
    [
      'a count beside another one',
      { resources: { ...service.resources, loans: { ...loans, count: counted }, books: { ...books, count: counted } } },
      'two have the path /v1/counts',
    ],
    ...['listBooks', 'lendBook', 'listBookEvents', 'followEvents'].map(
      (operationId): [string, Partial<Service>, string] => [
        `a count that is named ${operationId}`,
        withCount({ operationId }),
        `two have the operationId ${operationId}`,
      ],
    ),
    [
      'a title that a count has',
      {
        resources: {
          ...service.resources,
          loans: { ...loans, count: counted },
          books: { ...books, schema: { ...books.schema, title: 'LoanCounts' } as never },
        },
      },
      'two have the title LoanCounts',
    ],
    ...['bookId', 'memberId', 'status'].map((name): [string, Partial<Service>, string] => [
      `a filter ${name} that no example gives a value`,
      showing((filters) => ({ ...filters, [name]: undefined })),
      `resources.loans.filters.${name}: no document that the examples lead to names its value`,
    ]),
    [
      'a text that is too long in all examples',
      { ...withFilter('note', Type.String()), ...showing((filters) => ({ ...filters, note: 'a'.repeat(129) })) },
      'resources.loans.filters.note: no document that the examples lead to names its value',
    ],
    [
      'a value of an enumeration that has no such value',
      showing((filters) => ({ ...filters, status: 'lost' })),
      'it shows a document of loans under status lost, which is no value of the filter',
    ],
    [
      'a value of what is no filter',
      showing((filters) => ({ ...filters, colour: 'red' })),
      'it shows a document of loans under colour: loans has no such filter, but status',
    ],
  ])('%s', (_, over, message) => expect(refusalOf(over)).toThrow(message))

  it('no filter of any value, what goes together within 16 ranges, nor a count at a path of its own', () => {
    const filters = { ...loans.filters, many: values(3), more: values(3), note: Type.String({ maxLength: 500 }) }
    const shown = showing((each) => ({ ...each, many: 'v1', more: 'v2', note: 'x', bookId: -(2n ** 63n) }))
    const together = [
      ['many', 'bookId', 'more'],
      ['note', 'status'],
    ] // 4 * 4 ranges
    const over = { ...withLoans({ filters, together, count: { ...counted, path: '/v1/loans/count' } }), ...shown }
    expect(refusalOf(over)).not.toThrow()
  })
})

describe('the version of the read models', () => {
  const versionOf = (over: Partial<Service>) => define({ ...service, ...over }).version
  const withDeclared = (filters: object, together: string[][] = []) => versionOf(withLoans({ filters, together }))
  const text = Type.String({ description: 'A note' })

  it('is another one with each filter that is declared, and with what goes together', () => {
    const versions = [
      withDeclared({}),
      withDeclared({ status }),
      withDeclared({ status, bookId }),
      withDeclared({ status, memberId: bookId }),
      withDeclared({ status, bookId, memberId: bookId }),
      withDeclared({ status, bookId: text }),
      withDeclared({ status, bookId }, [['bookId', 'status']]),
      withDeclared({ status: values(2), bookId }, [['bookId', 'status']]),
      withDeclared({ status, more: values(2), bookId }, [['bookId', 'status']]),
      withDeclared({ status, more: values(2), bookId }, [['bookId', 'more']]),
      withDeclared({ status, more: values(2), bookId }, [['bookId', 'status', 'more']]),
      withDeclared({ status, more: values(2), bookId }, [['bookId', 'more', 'status']]),
    ]
    expect(new Set(versions).size).toBe(versions.length)
    for (const version of versions) expect(version).toMatch(/^[\w.-]+$/)
  })

  it('is the same one whatever values an enumeration has, how a filter is described, and what is counted', () => {
    expect(withDeclared({ status: values(7) })).toBe(withDeclared({ status }))
    expect(versionOf(withCount({}))).toBe(versionOf({}))
    const described = { ...loans.filters, bookId: { ...bookId, description: 'Another word', examples: [8] } }
    expect(versionOf(withLoans({ filters: described }))).toBe(versionOf({}))
  })
})
