import { Type } from 'typebox'
import { command, defineService, type EventType, exactJson, stream } from '../../src/engine/index.ts'
import { type Command, decide, dueAfter, type Event, errors, evolve } from './loans.ts'
import { books, id, loans, projections, reservations, waiting } from './resources.ts'

/** What an event is, and an example of it, which gives book 7 this version. Those of POST may be keyed. */
function event<E extends Event>(version: number, summary: string, event: E, data: EventType<E>['data']): EventType<E> {
  const name = event.type.charAt(0).toLowerCase() + event.type.slice(1)
  const example = { name, summary, stream: 7, version, event, ...(version < 4 ? { isKeyed: true as const } : {}) }
  return { version: 1, description: summary, data, examples: [example] }
}

const due = '2026-12-01T00:00:00.000Z'
const added = { type: 'BookAdded', id: 7, title: 'Emma' } as const
const lent = { type: 'BookLent', loanId: 9, bookId: 7, memberId: 3, due } as const
const reserved = { type: 'BookReserved', reservationId: 11, bookId: 7, memberId: 4 } as const
const ofLoan = { loanId: id('The loan', 9) }
const lending = { ...ofLoan, bookId: id(), memberId: id('Who has it', 3), due: Type.String() }
const reserving = { reservationId: id('The reservation', 11), ...waiting }

const title = Type.String({ maxLength: 200, pattern: '\\S', 'x-rule': 'must not be blank', examples: ['Emma'] })

const addBook = command({
  method: 'POST',
  path: '/v1/books',
  scope: 'write',
  texts: { operationId: 'addBook', summary: 'Add a book' },
  body: Type.Object({ title }, { title: 'BookInput', additionalProperties: false }),
  on: 'new',
  creates: 'books',
  rejects: {},
  command: ({ id, body: { title } }): Command => ({ type: 'add', id, title }),
  key: {
    text: 'get the book of the first',
    content: ({ title }) => [title],
    again: ({ id }, { title }) => exactJson({ id, title, status: 'in' }),
  },
})

const lendBook = command({
  method: 'POST',
  path: '/v1/loans',
  scope: 'write',
  texts: { operationId: 'lendBook', summary: 'Lend a book' },
  body: Type.Object(
    { bookId: id(), memberId: id('Who borrows it', 3) },
    { title: 'LoanInput', additionalProperties: false },
  ),
  on: { stream: ({ bookId }) => bookId },
  creates: 'loans',
  rejects: { book_is_lent: `Loan 8 has it until ${due}.`, unknown_book: 'There is no such book.' },
  command: ({ id: loanId, time, body: { memberId } }): Command => ({ type: 'lend', loanId, memberId, time }),
  key: {
    text: 'for the same book get the loan of the first',
    content: ({ memberId }) => [String(memberId)],
    again: ({ id, time }, { bookId, memberId }) =>
      exactJson({ id, bookId, memberId, status: 'open', due: dueAfter(time) }),
  },
})

const reserveBook = command({
  method: 'POST',
  path: '/v1/reservations',
  scope: 'write',
  texts: { operationId: 'reserveBook', summary: 'Wait for a book that is lent' },
  body: Type.Object(waiting, { title: 'ReservationInput', additionalProperties: false }),
  on: { stream: ({ bookId }) => bookId },
  creates: 'reservations',
  rejects: {
    book_is_in: 'No member has it: lend it.',
    line_is_full: '50 members wait for it.',
    unknown_book: 'There is no such book.',
  },
  command: ({ id: reservationId, body: { memberId } }): Command => ({ type: 'reserve', reservationId, memberId }),
  key: {
    text: 'for the same book get the reservation of the first',
    content: ({ memberId }) => [String(memberId)],
    again: ({ id }, { bookId, memberId }) => exactJson({ id, bookId, memberId, status: 'waiting' }),
  },
})

const changeLoan = command({
  method: 'PATCH',
  path: '/v1/loans/:loanId',
  scope: 'write',
  texts: { operationId: 'changeLoan', summary: 'Extend a loan, or return the book' },
  body: Type.Object(
    { do: Type.Enum(['extend', 'return'], { type: 'string', examples: ['return'] }) },
    { title: 'LoanChange', additionalProperties: false },
  ),
  on: { document: 'loans' },
  rejects: { loan_is_over: 'Loan 9 is over.', loan_is_overdue: `Loan 9 was due ${due}.` },
  command: ({ id: loanId, time, body }): Command => ({ type: body.do, loanId, time }),
})

/** Each book goes to one member at a time: so a book, its loans and who waits for it are one stream. */
export const bookStream = stream({
  collection: 'books',
  source: '/v1/books',
  initial: undefined,
  decide,
  evolve,
  projections,
  events: {
    BookAdded: event(1, 'Book 7 was added', added, Type.Object({ id: id(), title: Type.String() })),
    BookLent: event(2, 'Member 3 has book 7', lent, Type.Object(lending)),
    BookReserved: event(3, 'Member 4 waits for book 7', reserved, Type.Object(reserving)),
    LoanExtended: event(
      4,
      'Loan 9 is due later',
      { type: 'LoanExtended', loanId: 9, due },
      Type.Object({ ...ofLoan, due: Type.String() }),
    ),
    BookReturned: event(4, 'Book 7 is back', { type: 'BookReturned', loanId: 9 }, Type.Object(ofLoan)),
  },
  commands: [addBook, lendBook, changeLoan, reserveBook],
})

/** A library that lends books. */
export const library = defineService({
  name: 'library',
  title: 'Library',
  version: '1.0.0',
  description: 'Books that are lent, to one member at a time.',
  streams: [bookStream],
  resources: { books, loans, reservations },
  errors,
})
