import { expect, it } from 'vitest'
import { bookStream, library } from '../../examples/loans/library.ts'
import { type Command, type Event, evolve, type State } from '../../examples/loans/loans.ts'
import { given, openInMemory, startForTest } from '../../src/engine/testing/index.ts'

const [time, due] = ['2026-11-17T00:00:00.000Z', '2026-12-01T00:00:00.000Z']
const added: Event = { type: 'BookAdded', id: 7, title: 'Emma' }
const lent = (loanId = 9): Event => ({ type: 'BookLent', loanId, bookId: 7, memberId: 3, due })
const extended: Event = { type: 'LoanExtended', loanId: 9, due: '2026-12-15T00:00:00.000Z' }
const reserved = (reservationId = 11, memberId = 4): Event => ({
  type: 'BookReserved',
  ...{ reservationId, bookId: 7, memberId },
})
const returned: Event = { type: 'BookReturned', loanId: 9 }

const lend = (loanId = 9): Command => ({ type: 'lend', loanId, memberId: 3, time })
const reserve = (reservationId = 11): Command => ({ type: 'reserve', reservationId, memberId: 4 })
const change = (type: 'extend' | 'return', at = time): Command => ({ type, loanId: 9, time: at })

const inTheLibrary = { id: 7, title: 'Emma', status: 'in' }
const away = { ...inTheLibrary, status: 'lent' }
const reservation = { id: 11, bookId: 7, memberId: 4, status: 'waiting' }
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

it('a book that somebody waits for is lent to the next one as it is returned', () => {
  given(bookStream, added, lent(), reserved())
    .when(change('return'))
    .gives(returned, { type: 'BookLent', loanId: 11, bookId: 7, memberId: 4, due })
    .shows(away, { ...loan, status: 'returned' }, { ...reservation, status: 'lent' }, { ...loan, id: 11, memberId: 4 })
})

it('members get a book in the order in which they reserved it, and then it is in', () => {
  const next = (loanId: number, memberId: number): Event => ({ type: 'BookLent', loanId, bookId: 7, memberId, due })
  const giveBack = (loanId: number): Command => ({ type: 'return', loanId, time })
  given(bookStream, added, lent(), reserved(12, 6), reserved(11, 5))
    .when(change('return'))
    .gives(returned, next(12, 6))
    .when(giveBack(12))
    .gives({ type: 'BookReturned', loanId: 12 }, next(11, 5))
    .when(giveBack(11))
    .gives({ type: 'BookReturned', loanId: 11 })
    .when(lend(13))
    .gives(lent(13))
    .when(giveBack(12))
    .unchanged()
})

it('a state has those who wait, and the last who did, however many came before', () => {
  const giveBack = (loanId: number): Event => ({ type: 'BookReturned', loanId })
  const events = [added, lent(9), reserved(11), giveBack(9), lent(11), reserved(12), giveBack(11), lent(12)]
  const state = events.reduce<State>((before, event, at) => evolve(before, { event, version: at + 1, time }), undefined)
  expect(state?.line).toEqual([{ ...reservation, id: 12, status: 'lent' }])
})

it('nobody waits for a book that is in', () => {
  given(bookStream).when(reserve()).rejected('unknown_book')
  given(bookStream, added).when(reserve()).rejected('book_is_in')
  given(bookStream, added, lent(), returned).when(reserve()).rejected('book_is_in')
})

it('fifty members wait for a book at most', () => {
  const line = Array.from({ length: 49 }, (_, i) => reserved(100 + i))
  const almost = given(bookStream, added, lent(), ...line)
  const full = almost.when(reserve(200)).gives(reserved(200))
  full.when(reserve(201)).rejected('line_is_full', /^50 members/)
  given(bookStream, added, lent(), ...line, reserved(200), returned, lent(100))
    .when(reserve(201))
    .gives(reserved(201))
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
  ['there is no such book', reserved()],
  ['reservation 11 exists', added, lent(), reserved(), reserved()],
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

it('the open loans of a member are listed', async () => {
  await using opened = await openInMemory(library)
  for (const title of ['Emma', 'Persuasion']) await opened.run('addBook', { body: { title } })
  for (const bookId of [1, 2]) await opened.run('lendBook', { body: { bookId, memberId: 3 + bookId } })
  const { body } = await opened.run('listLoans', { query: { memberId: '5', status: 'open' } })
  expect(body).toMatchObject([{ bookId: 2, memberId: 5, status: 'open' }])
  for (const query of [{ memberId: '6' }, { memberId: '5', status: 'returned' }])
    expect((await opened.run('listLoans', { query })).body).toEqual([])
})

it('who waits for a book has it once it is returned, and its history tells both', async () => {
  await using opened = await openInMemory(library)
  await opened.run('addBook', { body: { title: 'Emma' } })
  await opened.run('lendBook', { body: { bookId: 1, memberId: 3 } })
  const waiting = await opened.run('reserveBook', { body: { bookId: 1, memberId: 4 } })
  expect([waiting.status, waiting.body]).toEqual([201, { id: 3, bookId: 1, memberId: 4, status: 'waiting' }])
  const back = await opened.run('changeLoan', { id: 2, body: { do: 'return' } })
  expect([back.status, back.body]).toMatchObject([200, { id: 2, memberId: 3, status: 'returned' }])
  expect(await opened.find('reservations', 3)).toMatchObject({ memberId: 4, status: 'lent' })
  expect(await opened.find('loans', 3)).toMatchObject({ bookId: 1, memberId: 4, status: 'open' })
  expect(await opened.find('books', 1)).toMatchObject({ status: 'lent' })
  const { body } = await opened.run('listBookEvents', { id: 1 })
  expect((body as object[]).slice(3)).toMatchObject([
    { type: 'library.BookReturned.v1', streamversion: 4, streamindex: 0, data: { loanId: 2 } },
    { type: 'library.BookLent.v1', streamversion: 4, streamindex: 1, data: { loanId: 3, memberId: 4 } },
  ])
})

it('the library is served', async () => {
  await using started = await startForTest(library)
  const headers = { authorization: `Bearer ${started.key}` }
  expect(await (await fetch(`${started.url}/v1/books`, { headers })).json()).toEqual([])
})
