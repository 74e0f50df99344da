import { Type } from 'typebox'
import { command, defineService, type EventType, exactJson, stream } from '../../src/engine/index.ts'
import { type Command, decide, dueAfter, type Event, errors, evolve } from './loans.ts'
import { books, id, loans, projections } from './resources.ts'

/** What an event is, and an example of it, which gives book 7 this version. Those of POST may be keyed. */
function event<E extends Event>(version: number, summary: string, event: E, data: EventType<E>['data']): EventType<E> {
  const name = event.type.charAt(0).toLowerCase() + event.type.slice(1)
  const example = { name, summary, stream: 7, version, event, ...(version < 3 ? { isKeyed: true as const } : {}) }
  return { version: 1, description: summary, data, examples: [example] }
}

const due = '2026-12-01T00:00:00.000Z'
const added = { type: 'BookAdded', id: 7, title: 'Emma' } as const
const lent = { type: 'BookLent', loanId: 9, bookId: 7, memberId: 3, due } as const
const ofLoan = { loanId: id('The loan', 9) }
const lending = { ...ofLoan, bookId: id(), memberId: id('Who has it', 3), due: Type.String() }

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

/** Each book goes to one member at a time: so a book and its loans are one stream. */
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
    LoanExtended: event(
      3,
      'Loan 9 is due later',
      { type: 'LoanExtended', loanId: 9, due },
      Type.Object({ ...ofLoan, due: Type.String() }),
    ),
    BookReturned: event(3, 'Book 7 is back', { type: 'BookReturned', loanId: 9 }, Type.Object(ofLoan)),
  },
  commands: [addBook, lendBook, changeLoan],
})

/** A library that lends books. */
export const library = defineService({
  name: 'library',
  title: 'Library',
  version: '1.0.0',
  description: 'Books that are lent, to one member at a time.',
  streams: [bookStream],
  resources: { books, loans },
  errors,
})
