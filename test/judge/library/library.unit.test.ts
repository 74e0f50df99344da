import { describe, expect, it } from 'vitest'
import { partitionOf } from '../../../src/engine/log/kafka/default-partitioner.ts'
import { eventRecord } from '../../lib/event-record.ts'
import { checkDocuments } from '../documents.ts'
import type { History, LogRecord } from '../history.ts'
import { checkAgainstLog } from '../judge.ts'
import type { Shown } from '../operations.ts'
import { Prefixes } from '../prefixes.ts'
import { checkPublished } from '../published.ts'
import { checkLent } from './library.ts'

const partitions = 2
const time = '2026-11-20T09:30:00.000Z'
const due = '2026-12-04T09:30:00.000Z'
/** A book, its loan, and a reservation: in one partition. */
const [book = 0, loan = 0, reservation = 0, other = 0] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].filter(
  (id) => partitionOf(String(id), partitions) === 0,
)

interface Said {
  readonly type: string
  readonly data: object
}

const added: Said = { type: 'library.BookAdded.v1', data: { id: book, title: 'Emma' } }
const lent = lentTo(loan, 3)
const reserved: Said = {
  type: 'library.BookReserved.v1',
  data: { reservationId: reservation, bookId: book, memberId: 4 },
}
const returned: Said = { type: 'library.BookReturned.v1', data: { loanId: loan } }
const lentOn = several(returned, lentTo(reservation, 4))

function lentTo(loanId: number, memberId: number, until = due): Said {
  return { type: 'library.BookLent.v1', data: { loanId, bookId: book, memberId, due: until } }
}

function several(...events: readonly Said[]): Said {
  return { type: 'library.Several.v1', data: { events: events.map((said, at) => ({ id: `e-${at}`, ...said })) } }
}

/** The versions of one book, in their order. */
function historyOf(...events: readonly Said[]): History {
  const log = events.map(({ type, data }, offset) => {
    const said = { id: `${offset}`, type, source: '/v1/books', subject: String(book), time }
    return { partition: 0, offset, ...eventRecord({ ...said, streamversion: offset + 1, data }) }
  })
  return { log, exchanges: [], service: 'library' }
}

const rulesOf = (...events: readonly Said[]) =>
  checkAgainstLog(historyOf(...events), partitions, false).map(({ rule }) => rule)

const whole = [added, lent, reserved, lentOn]

describe('a log of the library', () => {
  it('has what commands make happen', () => {
    expect(rulesOf(...whole)).toEqual([])
    const extended = { type: 'library.LoanExtended.v1', data: { loanId: loan, due: '2026-12-18T09:30:00.000Z' } }
    expect(rulesOf(added, lent, extended, returned, lentTo(other, 5))).toEqual([])
  })

  it.each<[string, ...Said[]]>([
    ['a book lent twice', added, lent, lentTo(other, 5)],
    ['a book added twice', added, added],
    ['a return of no loan', added, returned],
    ['a book lent on before it comes back', added, lent, reserved, several(lentTo(reservation, 4), returned)],
    ['one event as several', added, lent, several(returned)],
    ['several in several', added, lent, reserved, several(returned, several(lentTo(reservation, 4), returned))],
  ])('cannot have %s', (_, ...events) => {
    expect(rulesOf(...events)).toEqual(['impossible record'])
  })

  it.each<[string, ...Said[]]>([
    ['a book that is in though somebody waits', added, lent, reserved, returned],
    ['a book lent on to nobody who waits', added, lent, several(returned, lentTo(other, 4))],
    ['a book lent past who waits', added, lent, reserved, several(returned, lentTo(other, 5))],
    ['a book lent on for longer', added, lent, reserved, several(returned, lentTo(reservation, 4, time))],
    ['a loan of another time', added, lentTo(loan, 3, time)],
    ['who waits for a book that is in', added, reserved],
    ['a loan extended by too little', added, lent, { type: 'library.LoanExtended.v1', data: { loanId: loan, due } }],
  ])('has no %s', (_, ...events) => {
    expect(rulesOf(...events)).toContain('impossible decision')
  })

  it('passes over a record under whose ids something is: it is not counted', () => {
    const again = { ...reserved, data: { ...reserved.data, memberId: 5 } }
    const { effects, fold } = new Prefixes(historyOf(added, lent, reserved, again), partitions)
    expect([effects.length, fold.versionOf(String(book))]).toEqual([3, 3])
  })

  it('has a book lent to one at a time', () => {
    const record = { partition: 0, offset: 0, key: null, value: null }
    const effect = (id: number, status: 'open' | 'returned') => ({
      ...{ type: 'library.BookLent.v1', record, since: 1, request: undefined, drawn: undefined },
      shown: [{ collection: 'loans', document: { id, bookId: book, memberId: 3, status, due } }] as const,
    })
    expect([...checkLent([effect(loan, 'open'), effect(other, 'open')])]).toMatchObject([{ rule: 'lent to several' }])
    expect([...checkLent([effect(loan, 'open'), effect(loan, 'returned'), effect(other, 'open')])]).toEqual([])
  })
})

describe('what is published of the library', () => {
  const history = historyOf(...whole)
  const records = history.log.flatMap((record): LogRecord[] => {
    const { data, ...event } = JSON.parse(String(record.value))
    if (event.type !== 'library.Several.v1') return [record]
    const { streamversion, ...rest } = event
    return (data.events as object[]).map((own, streamindex) => {
      const value = JSON.stringify({ ...rest, streamversion, streamindex, data: undefined, ...own })
      return { ...record, value }
    })
  })
  const found = (published: readonly LogRecord[]) => checkPublished(history, partitions, published).length
  const [first, second, third, back, next] = records as [LogRecord, LogRecord, LogRecord, LogRecord, LogRecord]

  it('is each event of a record by itself', () => {
    expect(found([first, second, third, back, next])).toBe(0)
  })

  it.each<[string, readonly LogRecord[]]>([
    ['half of a record', [first, second, third, back]],
    ['the other half', [first, second, third, next]],
    ['the wrong way round', [first, second, third, next, back]],
    ['an event twice', [first, second, third, back, back, next]],
    ['a record as it is in the log', history.log],
    ['no index', [first, second, third, withoutIndex(back), withoutIndex(next)]],
  ])('is not %s', (_, published) => {
    expect(found(published)).toBe(1)
  })
})

function withoutIndex(record: LogRecord): LogRecord {
  const { streamindex: _, ...event } = JSON.parse(String(record.value))
  return { ...record, value: JSON.stringify(event) }
}

describe('a document of the library', () => {
  const open = { id: reservation, bookId: book, memberId: 4, status: 'open', due }
  const before = { id: loan, bookId: book, memberId: 3, status: 'returned', due }
  const away = { id: book, title: 'Emma', status: 'lent' }
  const documents: Readonly<Record<number, object>> = { [loan]: before, [reservation]: open, [book]: away }
  const told = (id: number, document: object): LogRecord => {
    return { partition: 0, offset: 0, key: String(id), value: JSON.stringify(document) }
  }
  const found = async (collection: Shown, records: readonly LogRecord[], changed: object = {}) => {
    const shown = async (id: number) => JSON.stringify({ ...documents, ...changed }[id] ?? null)
    return (await checkDocuments(historyOf(...whole), partitions, { collection, records, shown })).length
  }

  it('is told as the last event of a record leaves it', async () => {
    expect(await found('loans', [told(loan, before), told(reservation, open)])).toBe(0)
    expect(await found('books', [told(book, away)])).toBe(0)
  })

  it('is not told as it is between two events', async () => {
    expect(await found('loans', [told(loan, before)])).toBe(1)
    expect(await found('loans', [told(loan, { ...before, status: 'open' }), told(reservation, open)])).toBe(1)
    const between = { ...away, status: 'in' }
    expect(await found('books', [told(book, between)], { [book]: between })).toBe(1)
  })
})
