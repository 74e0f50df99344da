import { IdTakenError, type Recorded, Rejected, type Service } from '../../src/engine/index.ts'

export interface Loan {
  id: number
  bookId: number
  memberId: number
  status: 'open' | 'returned'
  /** RFC 3339, UTC. */
  due: string
}

/** A book and its latest loan; undefined if there is no such book. */
export type State = { book: { id: number; title: string }; loan?: Loan } | undefined

export type Event =
  | { readonly type: 'BookAdded'; id: number; title: string }
  | { readonly type: 'BookLent'; loanId: number; bookId: number; memberId: number; due: string }
  | { readonly type: 'LoanExtended'; loanId: number; due: string }
  | { readonly type: 'BookReturned'; loanId: number }

export type Command =
  | { type: 'add'; id: number; title: string }
  | { type: 'lend'; loanId: number; memberId: number; time: string }
  | { type: 'extend' | 'return'; loanId: number; time: string }

/** What a command may be rejected with. */
export const errors = {
  unknown_book: { status: 422, retry: 'no', meaning: 'The library has no such book.' },
  book_is_lent: { status: 409, retry: 'yes', meaning: 'A member has the book. The message says until when.' },
  loan_is_over: { status: 409, retry: 'no', meaning: 'The book was returned.' },
  loan_is_overdue: { status: 409, retry: 'no', meaning: 'It is too late to extend the loan: return the book.' },
} satisfies Service['errors']

const fourteenDays = 14 * 86_400_000
export const dueAfter = (time: string) => new Date(Date.parse(time) + fourteenDays).toISOString()

/** What a command makes happen. */
export function decide(command: Command, state: State): Event | 'unchanged' | Rejected<keyof typeof errors> {
  if (command.type === 'add') return { type: 'BookAdded', id: command.id, title: command.title }
  if (state === undefined) return new Rejected('unknown_book', 'There is no such book.')
  const { loanId, time } = command
  const { book, loan } = state
  const open = loan?.status === 'open' ? loan : undefined
  if (command.type === 'lend') {
    if (open !== undefined) return new Rejected('book_is_lent', `Loan ${open.id} has it until ${open.due}.`)
    return { type: 'BookLent', loanId, bookId: book.id, memberId: command.memberId, due: dueAfter(time) }
  }
  if (open?.id !== loanId) {
    return command.type === 'return' ? 'unchanged' : new Rejected('loan_is_over', `Loan ${loanId} is over.`)
  }
  if (command.type === 'return') return { type: 'BookReturned', loanId }
  if (time > open.due) return new Rejected('loan_is_overdue', `Loan ${loanId} was due ${open.due}.`)
  return { type: 'LoanExtended', loanId, due: dueAfter(open.due) }
}

/** What an event means. One that cannot follow the state is parked, with the reason. */
export function evolve(state: State, { event }: Recorded<Event>): State {
  if (event.type === 'BookAdded') {
    if (state !== undefined) throw new Error('the book exists')
    return { book: { id: event.id, title: event.title } }
  }
  if (state === undefined) throw new Error('there is no such book')
  const { book, loan } = state
  if (event.type === 'BookLent') {
    if (loan?.status === 'open') throw new Error('the book is lent')
    if (loan?.id === event.loanId) throw new IdTakenError(`loan ${loan.id} exists`)
    const { loanId: id, memberId, due } = event
    return { book, loan: { id, bookId: book.id, memberId, status: 'open', due } }
  }
  if (loan?.id !== event.loanId || loan.status !== 'open') throw new Error('there is no such open loan')
  return { book, loan: event.type === 'BookReturned' ? { ...loan, status: 'returned' } : { ...loan, due: event.due } }
}
