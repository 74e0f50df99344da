import { Type } from 'typebox'
import { exactJson, type Projection, type Resource } from '../../src/engine/index.ts'
import type { State } from './loans.ts'

/** An id, of a book if nothing else is said. */
export const id = (description = 'The book', example = 7) =>
  Type.Integer({ format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description, examples: [example] })

export const waiting = { bookId: id(), memberId: id('Who waits for it', 4) }

const BookStatus = Type.Enum(['in', 'lent'], { type: 'string', title: 'BookStatus' })
const LoanStatus = Type.Enum(['open', 'returned'], { type: 'string', title: 'LoanStatus' })
const ReservationStatus = Type.Enum(['waiting', 'lent'], { type: 'string', title: 'ReservationStatus' })
const due = Type.String({ format: 'date-time', description: 'When the book must be back' })

export const books: Resource<'book'> = {
  path: '/v1/books',
  noun: 'book',
  tag: { name: 'books', description: 'The books of the library' },
  schema: Type.Object({ id: id(), title: Type.String(), status: BookStatus }, { title: 'Book' }),
  example: { id: 7, title: 'Emma', status: 'in' },
  filters: { status: BookStatus },
  list: { operationId: 'listBooks', summary: 'List all books' },
  find: { operationId: 'getBook', summary: 'Get a book' },
  history: { operationId: 'listBookEvents', summary: 'List what happened to a book' },
}

export const loans: Resource<'loan'> = {
  path: '/v1/loans',
  noun: 'loan',
  tag: { name: 'loans', description: 'Who has which book' },
  schema: Type.Object(
    { id: id('The loan', 9), bookId: id(), memberId: id('Who has it', 3), status: LoanStatus, due },
    { title: 'Loan' },
  ),
  example: { id: 9, bookId: 7, memberId: 3, status: 'open', due: '2026-12-01T00:00:00.000Z' },
  filters: { status: LoanStatus, bookId: id(), memberId: id('Who has it', 3) },
  together: [
    ['bookId', 'status'],
    ['memberId', 'status'],
  ],
  list: { operationId: 'listLoans', summary: 'List all loans' },
  find: { operationId: 'getLoan', summary: 'Get a loan' },
}

export const reservations: Resource<'reservation'> = {
  path: '/v1/reservations',
  noun: 'reservation',
  tag: { name: 'reservations', description: 'Who waits for which book. The loan has the id of the reservation' },
  schema: Type.Object(
    { id: id('The reservation', 11), ...waiting, status: ReservationStatus },
    { title: 'Reservation' },
  ),
  example: { id: 11, bookId: 7, memberId: 4, status: 'waiting' },
  filters: { status: ReservationStatus },
  list: { operationId: 'listReservations', summary: 'List all reservations' },
  find: { operationId: 'getReservation', summary: 'Get a reservation' },
}

export const projections: Projection<State>[] = [
  {
    name: 'books',
    version: 1,
    documents(state) {
      if (state === undefined) return []
      const { book, loan } = state
      const status = loan?.status === 'open' ? 'lent' : 'in'
      return [{ collection: 'books', id: book.id, json: exactJson({ ...book, status }), filters: { status } }]
    },
  },
  {
    name: 'loans',
    version: 1,
    documents(state) {
      if (state?.loan === undefined) return []
      const { id, status, bookId, memberId } = state.loan
      return [{ collection: 'loans', id, json: exactJson(state.loan), filters: { status, bookId, memberId } }]
    },
  },
  {
    name: 'reservations',
    version: 1,
    documents: (state) =>
      (state?.line ?? []).map((each) => {
        const { id, status } = each
        return { collection: 'reservations', id, json: exactJson(each), filters: { status } }
      }),
  },
]
