import { IdTakenError, type Recorded, Rejected, type Service } from '../../src/engine/index.ts'

export interface Loan {
  id: number
  bookId: number
  memberId: number
  status: 'open' | 'returned'
  /** RFC 3339, UTC. */
  due: string
}

/** Its loan, once there is one, has its id. */
export interface Reservation {
  id: number
  bookId: number
  memberId: number
  status: 'waiting' | 'lent'
}

/** A book, its latest loan, and its line, in which the last that came to a loan stays; undefined if there is no such book. */
export type State = { book: { id: number; title: string }; loan?: Loan; line: Reservation[] } | undefined

export type Event =
  | { readonly type: 'BookAdded'; id: number; title: string }
  | { readonly type: 'BookLent'; loanId: number; bookId: number; memberId: number; due: string }
  | { readonly type: 'BookReserved'; reservationId: number; bookId: number; memberId: number }
  | { readonly type: 'LoanExtended'; loanId: number; due: string }
  | { readonly type: 'BookReturned'; loanId: number }

export type Command =
  | { type: 'add'; id: number; title: string }
  | { type: 'lend'; loanId: number; memberId: number; time: string }
  | { type: 'reserve'; reservationId: number; memberId: number }
  | { type: 'extend' | 'return'; loanId: number; time: string }

/** What a command may be rejected with. */
export const errors = {
  unknown_book: { status: 422, retry: 'no', meaning: 'The library has no such book.' },
  book_is_in: { status: 409, retry: 'no', meaning: 'No member has the book: lend it.' },
  book_is_lent: { status: 409, retry: 'yes', meaning: 'A member has the book. The message says until when.' },
  line_is_full: { status: 409, retry: 'yes', meaning: 'Fifty members wait for the book.' },
  loan_is_over: { status: 409, retry: 'no', meaning: 'The book was returned.' },
  loan_is_overdue: { status: 409, retry: 'no', meaning: 'It is too late to extend the loan: return the book.' },
} satisfies Service['errors']

const lineMax = 50
const waits = ({ status }: Reservation) => status === 'waiting'

const fourteenDays = 14 * 86_400_000
export const dueAfter = (time: string) => new Date(Date.parse(time) + fourteenDays).toISOString()

/** What a command makes happen. */
export function decide(command: Command, state: State): Event | Event[] | 'unchanged' | Rejected<keyof typeof errors> {
  if (command.type === 'add') return { type: 'BookAdded', id: command.id, title: command.title }
  if (state === undefined) return new Rejected('unknown_book', 'There is no such book.')
  const { book, loan, line } = state
  const open = loan?.status === 'open' ? loan : undefined
  const waiting = line.filter(waits)
  if (command.type === 'reserve') {
    if (open === undefined) return new Rejected('book_is_in', 'No member has it: lend it.')
    if (waiting.length >= lineMax) return new Rejected('line_is_full', `${lineMax} members wait for it.`)
    const { reservationId, memberId } = command
    return { type: 'BookReserved', reservationId, bookId: book.id, memberId }
  }
  const { loanId, time } = command
  if (command.type === 'lend') {
    if (open !== undefined) return new Rejected('book_is_lent', `Loan ${open.id} has it until ${open.due}.`)
    return { type: 'BookLent', loanId, bookId: book.id, memberId: command.memberId, due: dueAfter(time) }
  }
  if (open?.id !== loanId) {
    return command.type === 'return' ? 'unchanged' : new Rejected('loan_is_over', `Loan ${loanId} is over.`)
  }
  if (command.type === 'return') {
    const returned: Event = { type: 'BookReturned', loanId }
    const [next] = waiting
    if (next === undefined) return returned
    const { id, bookId, memberId } = next
    return [returned, { type: 'BookLent', loanId: id, bookId, memberId, due: dueAfter(time) }]
  }
  if (time > open.due) return new Rejected('loan_is_overdue', `Loan ${loanId} was due ${open.due}.`)
  return { type: 'LoanExtended', loanId, due: dueAfter(open.due) }
}

/** What an event means. One that cannot follow the state is parked, with the reason. */
export function evolve(state: State, { event }: Recorded<Event>): State {
  if (event.type === 'BookAdded') {
    if (state !== undefined) throw new Error('the book exists')
    return { book: { id: event.id, title: event.title }, line: [] }
  }
  if (state === undefined) throw new Error('there is no such book')
  const { book, loan, line } = state
  if (event.type === 'BookReserved') {
    const { reservationId: id, bookId, memberId } = event
    if (line.some((each) => each.id === id)) throw new IdTakenError(`reservation ${id} exists`)
    return { ...state, line: [...line, { id, bookId, memberId, status: 'waiting' }] }
  }
  if (event.type === 'BookLent') {
    if (loan?.status === 'open') throw new Error('the book is lent')
    if (loan?.id === event.loanId) throw new IdTakenError(`loan ${loan.id} exists`)
    const { loanId: id, memberId, due } = event
    const after = line.filter(waits).map((each) => (each.id === id ? { ...each, status: 'lent' as const } : each))
    return { book, loan: { id, bookId: book.id, memberId, status: 'open', due }, line: after }
  }
  if (loan?.id !== event.loanId || loan.status !== 'open') throw new Error('there is no such open loan')
  if (event.type === 'BookReturned') return { ...state, loan: { ...loan, status: 'returned' } }
  return { ...state, loan: { ...loan, due: event.due } }
}
