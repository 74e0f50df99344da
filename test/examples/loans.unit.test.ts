import { expect, it } from 'vitest'
import { bookStream, library } from '../../examples/loans/library.ts'
import type { Command, Event } from '../../examples/loans/loans.ts'
import { given, openInMemory, startForTest } from '../../src/engine/testing/index.ts'

const [time, due] = ['2026-11-17T00:00:00.000Z', '2026-12-01T00:00:00.000Z']
const added: Event = { type: 'BookAdded', id: 7, title: 'Emma' }
const lent = (loanId = 9): Event => ({ type: 'BookLent', loanId, bookId: 7, memberId: 3, due })
const extended: Event = { type: 'LoanExtended', loanId: 9, due: '2026-12-15T00:00:00.000Z' }
const returned: Event = { type: 'BookReturned', loanId: 9 }

const lend = (loanId = 9): Command => ({ type: 'lend', loanId, memberId: 3, time })
const change = (type: 'extend' | 'return', at = time): Command => ({ type, loanId: 9, time: at })

const inTheLibrary = { id: 7, title: 'Emma', status: 'in' }
const away = { ...inTheLibrary, status: 'lent' }
const loan = { id: 9, bookId: 7, memberId: 3, status: 'open', due }

it('a book is added, lent and returned', () => {
  given(bookStream)
    .when({ type: 'add', id: 7, title: 'Emma' })
    .gives(added)
    .when(lend())
    .gives(lent())
    .when(change('return'))
    .gives(returned)
    .shows(inTheLibrary, { ...loan, status: 'returned' })
})

it('a book is lent to one member at a time', () => {
  given(bookStream, added, lent())
    .when(lend(10))
    .rejected('book_is_lent', /^Loan 9 has it until/)
  const again = given(bookStream, added, lent(), returned).when(lend(10)).gives(lent(10))
  again.shows(away, { ...loan, status: 'returned' }, { ...loan, id: 10 })
})

it('a book that the library does not have is not lent', () => given(bookStream).when(lend()).rejected('unknown_book'))

it('a loan is extended until it is due, and no later', () => {
  const open = given(bookStream, added, lent())
  open
    .when(change('extend'))
    .gives(extended)
    .shows(away, { ...loan, due: extended.due })
  open.when(change('extend', due)).gives(extended)
  open.when(change('extend', '2026-12-01T00:00:00.001Z')).rejected('loan_is_overdue')
})

it.each<readonly Event[][]>([[[]], [[lent(10)]]])('a loan that is over stays so, whatever follows: %j', (since) => {
  const over = given(bookStream, added, lent(), returned, ...since)
  over.when(change('return')).unchanged()
  over.when(change('extend')).rejected('loan_is_over')
})

it.each<[reason: string, ...events: Event[]]>([
  ['the book exists', added, added],
  ['there is no such book', lent()],
  ['the book is lent', added, lent(), lent(10)],
  ['loan 9 exists', added, lent(), returned, lent()],
  ['there is no such open loan', added, returned],
  ['there is no such open loan', added, lent(), returned, extended],
])('an event that cannot follow says why: %s', (reason, ...events) => {
  expect(() => given(bookStream, ...events)).toThrow(`evolve refuses it: ${reason}`)
})

it('the books that are lent are listed', async () => {
  await using opened = await openInMemory(library)
  await opened.run('addBook', { body: { title: 'Emma' } })
  const { status } = await opened.run('lendBook', { body: { bookId: 1, memberId: 3 } })
  const { body } = await opened.run('listBooks', { query: { status: 'lent' } })
  expect([status, body]).toEqual([201, [{ id: 1, title: 'Emma', status: 'lent' }]])
  await opened.run('changeLoan', { id: 2, body: { do: 'return' } })
  expect(await opened.find('loans', 2)).toMatchObject({ bookId: 1, status: 'returned' })
  expect((await opened.run('listBooks', { query: { status: 'lent' } })).body).toEqual([])
})

it('the library is served', async () => {
  await using started = await startForTest(library)
  const headers = { authorization: `Bearer ${started.key}` }
  expect(await (await fetch(`${started.url}/v1/books`, { headers })).json()).toEqual([])
})
