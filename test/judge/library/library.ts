import { type Contradiction, contradiction, type Exchange, eventIn, type LogRecord, severalIn } from '../history.ts'
import { collectionOf } from '../operations.ts'
import type { Effective } from '../prefixes.ts'
import { documentOf, type JudgedService } from '../service.ts'
import { membersOf, textOf } from '../values.ts'
import type { Loan } from './book.ts'
import { LibraryRule } from './rule.ts'

/** The library of examples/loans. A book that comes back goes to who waits for it first: two events in one record. */
export const library: JudgedService = {
  collections: ['books', 'loans', 'reservations'],
  newRule: (partitionFor) => new LibraryRule(partitionFor),
  drawnIn,
  isNew,
  isChange,
  isSo: (wanted, document) =>
    wanted?.do === undefined || membersOf(document).status === (wanted.do === 'return' ? 'returned' : 'open'),
  reasons: {
    unknown_book: ({ id = 0 }, prefixes) => ({
      document: prefixes.document('books', id),
      holds: (state) => state === undefined,
    }),
    book_is_in: ({ id = 0 }, prefixes) => ({
      document: prefixes.document('books', id),
      holds: (state) => state?.status === 'in',
    }),
    book_is_lent: ({ id = 0 }, prefixes) => ({
      document: prefixes.document('books', id),
      holds: (state) => state?.status === 'lent',
    }),
    line_is_full: ({ id = 0 }, prefixes) => ({
      document: prefixes.document('lines', id),
      holds: (state) => state?.status === 'full',
    }),
    loan_is_over: ({ id = 0 }, prefixes) => ({
      document: prefixes.document('loans', id),
      holds: (state) => state?.status === 'returned',
    }),
  },
  checkEffects: checkLent,
}

/** The loan of whoever waited has the id of the reservation: none is drawn for it. */
function drawnIn(record: LogRecord): ReturnType<JudgedService['drawnIn']> {
  const { type, data } = eventIn(record) ?? {}
  const { id, loanId, reservationId } = membersOf(data)
  if (type === 'library.BookAdded.v1') return { collection: 'books', id: Number(id) }
  if (type === 'library.BookLent.v1') return { collection: 'loans', id: Number(loanId) }
  return type === 'library.BookReserved.v1' ? { collection: 'reservations', id: Number(reservationId) } : undefined
}

/** When a loan is due follows from the time of its event, which the rule looks at. */
function isNew({ operation, id: bookId, wanted }: Exchange, document: unknown): boolean {
  const { id, due } = membersOf(document)
  const { memberId } = wanted ?? {}
  if (operation === 'addBook') return textOf({ id, ...wanted, status: 'in' }) === textOf(document)
  if (operation === 'reserveBook') return textOf({ id, bookId, memberId, status: 'waiting' }) === textOf(document)
  return textOf({ id, bookId, memberId, status: 'open', due }) === textOf(document)
}

function isChange({ operation, id = 0, wanted }: Exchange, effect: Effective): boolean {
  const events = severalIn(eventIn(effect.record) ?? {}) ?? [eventIn(effect.record)]
  const { type, data } = membersOf(events[0])
  const wantedType = wanted?.do === 'return' ? 'library.BookReturned.v1' : 'library.LoanExtended.v1'
  const isOfLoan = documentOf(effect, collectionOf(operation), id) !== undefined
  return isOfLoan && type === wantedType && membersOf(data).loanId === id
}

/** A book is lent to one at a time. */
export function* checkLent(effects: readonly Effective[]): Generator<Contradiction> {
  const openOf = new Map<number, Map<number, Effective>>()
  for (const effect of effects) {
    const loans = effect.shown.flatMap(({ collection, document }) => (collection === 'loans' ? [document as Loan] : []))
    for (const { id, bookId, status } of loans) {
      const open = openOf.get(bookId) ?? new Map<number, Effective>()
      openOf.set(bookId, open)
      if (status === 'open') open.set(id, effect)
      else open.delete(id)
    }
    for (const bookId of new Set(loans.map((loan) => loan.bookId))) {
      const open = openOf.get(bookId) ?? new Map<number, Effective>()
      if (open.size < 2) continue
      const what = `Book ${bookId} is lent to several at offset ${effect.record.offset}: ${[...open.keys()].join(', ')}.`
      yield contradiction('lent to several', what, [], [...open.values()].map(({ record }) => record).slice(-5))
    }
  }
}
