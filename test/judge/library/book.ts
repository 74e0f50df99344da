import type { ShownDocument } from '../service.ts'

export interface Loan {
  readonly id: number
  readonly bookId: number
  readonly memberId: number
  readonly status: 'open' | 'returned'
  readonly due: string
}

interface Waiting {
  readonly id: number
  readonly memberId: number
}

/** A book, the loan that it went to last, and who waits for it, in the order of the log. */
export interface Book {
  readonly id: number
  readonly title: string
  readonly loan?: Loan
  readonly line: readonly Waiting[]
}

/** What happened, as the schemas of the library have it. */
export type LibraryEvent =
  | { readonly type: 'library.BookAdded.v1'; readonly id: number; readonly title: string }
  | {
      readonly type: 'library.BookLent.v1'
      readonly loanId: number
      readonly bookId: number
      readonly memberId: number
      readonly due: string
    }
  | {
      readonly type: 'library.BookReserved.v1'
      readonly reservationId: number
      readonly bookId: number
      readonly memberId: number
    }
  | { readonly type: 'library.LoanExtended.v1'; readonly loanId: number; readonly due: string }
  | { readonly type: 'library.BookReturned.v1'; readonly loanId: number }

export const lineMax = 50
const fourteenDays = 14 * 86_400_000

export function dueAfter(time: string): string {
  return new Date(Date.parse(time) + fourteenDays).toISOString()
}

interface After {
  readonly book: Book
  /** Besides the book. */
  readonly shown: readonly ShownDocument[]
  readonly adds?: { readonly collection: 'loans' | 'reservations'; readonly id: number }
}

/** What an event makes of a book; undefined if it contradicts what came before. */
export function bookAfter(book: Book | undefined, event: LibraryEvent): After | undefined {
  if (event.type === 'library.BookAdded.v1')
    return book === undefined ? { book: { id: event.id, title: event.title, line: [] }, shown: [] } : undefined
  if (book === undefined) return undefined
  if (event.type === 'library.BookLent.v1') return lent(book, event)
  if (event.type === 'library.BookReserved.v1') return reserved(book, event)
  const { loan } = book
  if (loan?.id !== event.loanId || loan.status !== 'open') return undefined
  if (event.type === 'library.BookReturned.v1') return withLoan(book, { ...loan, status: 'returned' })
  return event.type === 'library.LoanExtended.v1' ? withLoan(book, { ...loan, due: event.due }) : undefined
}

function lent(book: Book, event: LibraryEvent & { type: 'library.BookLent.v1' }): After | undefined {
  const { loanId: id, bookId, memberId, due } = event
  if (isLent(book) || bookId !== book.id) return undefined
  const after = withLoan(book, { id, bookId, memberId, status: 'open', due })
  const waited = book.line.find((each) => each.id === id)
  const shown = waited ? [...after.shown, reservationOf(book, waited, 'lent')] : after.shown
  const line = book.line.filter((each) => each !== waited)
  return { book: { ...after.book, line }, shown, adds: { collection: 'loans', id } }
}

function reserved(book: Book, event: LibraryEvent & { type: 'library.BookReserved.v1' }): After | undefined {
  const { reservationId: id, bookId, memberId } = event
  if (bookId !== book.id) return undefined
  const waiting = { id, memberId }
  const after = { ...book, line: [...book.line, waiting] }
  return { book: after, shown: [reservationOf(book, waiting, 'waiting')], adds: { collection: 'reservations', id } }
}

function withLoan(book: Book, loan: Loan): After {
  return { book: { ...book, loan }, shown: [{ collection: 'loans', document: loan }] }
}

function reservationOf({ id: bookId }: Book, { id, memberId }: Waiting, status: 'waiting' | 'lent'): ShownDocument {
  const document = { id, bookId, memberId, status }
  return { collection: 'reservations', document }
}

/** The book itself, and whether more can wait for it. */
export function ownOf(book: Book): readonly ShownDocument[] {
  const { id, title, line } = book
  const document = { id, title, status: isLent(book) ? 'lent' : 'in' }
  const lines = { id, status: line.length < lineMax ? 'open' : 'full' }
  return [
    { collection: 'books', document },
    { collection: 'lines', document: lines },
  ]
}

function isLent({ loan }: Book): boolean {
  return loan?.status === 'open'
}

/** Why no command makes this of the book, though it could be applied; undefined if one does. */
export function flawOf(book: Book | undefined, events: readonly LibraryEvent[], time: string): string | undefined {
  const [event, second, ...others] = events
  if (book === undefined || event === undefined) return second && 'a book is added, and more'
  if (others.length > 0) return 'a command has more than two events'
  if (event.type === 'library.BookReturned.v1') return flawOfReturn(book, second, time)
  if (second !== undefined) return 'only a return has a second event'
  if (event.type === 'library.BookLent.v1') {
    if (book.line.length > 0) return 'a book is lent for which others wait'
    return event.due === dueAfter(time) ? undefined : 'it is not due fourteen days later'
  }
  if (event.type === 'library.BookReserved.v1') {
    if (!isLent(book)) return 'a member waits for a book that is in'
    return book.line.length < lineMax ? undefined : 'too many wait'
  }
  const { due = '' } = book.loan ?? {}
  if (time > due) return 'a loan is extended too late'
  return event.type === 'library.LoanExtended.v1' && event.due !== dueAfter(due)
    ? 'a loan is not extended by fourteen days'
    : undefined
}

/** A book that comes back goes to who waits for it first. */
function flawOfReturn({ line }: Book, second: LibraryEvent | undefined, time: string): string | undefined {
  const [next] = line
  if (next === undefined) return second && 'a book is lent on for which nobody waits'
  if (second?.type !== 'library.BookLent.v1') return `a book is not lent on to ${next.id}`
  if (second.loanId !== next.id || second.memberId !== next.memberId)
    return `a book goes to ${second.loanId}, and ${next.id} waited first`
  return second.due === dueAfter(time) ? undefined : 'it is not due fourteen days later'
}
