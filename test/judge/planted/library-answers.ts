import { type Exchange, eventIn, type History, severalIn } from '../history.ts'
import { isOk } from './records.ts'
import { done, isEarlier, refused, type Spoil, withBody, writerOf } from './spoil.ts'

interface Loan {
  readonly id: number
  readonly bookId: number
  readonly status: string
}

type Told = Readonly<Record<string, unknown>>

/** Bugs in what the library answers. */
export const plantedInLibraryAnswers: Readonly<Record<string, Spoil>> = {
  'a return is answered with the loan that the book went on to': done('changeLoan', (exchange, history) => {
    const next = lentOnBy(exchange, history)
    return next && withBody(exchange, { ...next.data, id: next.data.loanId, loanId: undefined, status: 'open' })
  }),
  'a return is answered as if the loan were open': done('changeLoan', (exchange) =>
    exchange.wanted?.do === 'return' ? withBody(exchange, { status: 'open' }) : undefined,
  ),
  'a loan is extended by too little': done('changeLoan', (exchange) =>
    exchange.wanted?.do === 'extend' ? withBody(exchange, { due: '2030-01-01T00:00:00.000Z' }) : undefined,
  ),
  'a return is confirmed that nobody made': (exchange) => {
    const { operation, status = 503, id = 0, wanted } = exchange
    const body = { id, bookId: 1, memberId: 1, status: 'returned', due: '2030-01-01T00:00:00.000Z' }
    const isLost = operation === 'changeLoan' && status >= 500 && wanted?.do === 'return'
    return isLost ? { ...exchange, instance: 'api', status: 200, body, tag: 'any', tokenAfter: '' } : undefined
  },
  'a return is refused that took effect': done('changeLoan', (exchange, history) =>
    lentOnBy(exchange, history) ? refused(exchange, 409, 'loan_is_over') : undefined,
  ),
  'a book is lent to another member': done('lendBook', (exchange) => withBody(exchange, { memberId: 99 })),
  'a loan is told again as it is now': done('lendBook', (exchange) =>
    exchange.isReplayed ? withBody(exchange, { status: 'returned' }) : undefined,
  ),
  'a member is told to have the book already': done('reserveBook', (exchange) =>
    withBody(exchange, { status: 'lent' }),
  ),
  'a return that nobody was told of was of something else': done('changeLoan', (exchange, history) =>
    lentOnBy(exchange, history)
      ? { ...refused(exchange, 504, 'append_outcome_unknown'), wanted: { do: 'extend' } }
      : undefined,
  ),
  'a book that is in is said to be lent': done('getBook', (exchange, history) => {
    const isFree = bookIn(exchange).status === 'in' && !isAsked(exchange, history, 'lendBook')
    return isFree ? { ...placed(exchange, 409, 'book_is_lent'), operation: 'lendBook' } : undefined
  }),
  'a book that is lent is said to be in': done('getBook', (exchange, history) => {
    const isLent = bookIn(exchange).status === 'lent' && isKnownBefore(exchange, history)
    return isLent && isNeverIn(exchange, history)
      ? { ...placed(exchange, 409, 'book_is_in'), operation: 'reserveBook' }
      : undefined
  }),
  'a book that is shown is said to be unknown': done('getBook', (exchange, history) =>
    isKnownBefore(exchange, history) ? { ...placed(exchange, 422, 'unknown_book'), operation: 'lendBook' } : undefined,
  ),
  'a line is said to be full': (exchange) =>
    exchange.code === 'book_is_in' ? { ...exchange, code: 'line_is_full' } : undefined,
  'a loan that is open is said to be over': done('getLoan', (exchange, { exchanges }) => {
    const isReturned = exchanges.some(({ operation, id }) => operation === 'changeLoan' && id === exchange.id)
    const { tag: _, cached: __, ...change } = refused(exchange, 409, 'loan_is_over')
    const isOpen = (exchange.body as Loan).status === 'open' && !isReturned
    return isOpen ? { ...change, operation: 'changeLoan', wanted: { do: 'extend' } } : undefined
  }),
  'a book is shown between two events of one record': done('getBook', (exchange, history) => {
    const isLent = bookIn(exchange).status === 'lent' && isKnownBefore(exchange, history)
    return isLent && isNeverIn(exchange, history) ? withBody(exchange, { status: 'in' }) : undefined
  }),
  'who has the book is said to wait': done('getReservation', (exchange, { exchanges }) => {
    const isLent = (one: Exchange) => (one.body as Loan | undefined)?.status === 'lent' && one.id === exchange.id
    const isTold = exchanges.some(
      (one) => one.operation === 'getReservation' && isLent(one) && isEarlier(one, exchange),
    )
    return isTold && isLent(exchange) && exchange.instance ? withBody(exchange, { status: 'waiting' }) : undefined
  }),
  'a loan is not found that the same process has shown': done('getLoan', (exchange, { exchanges }) => {
    const isShown = (one: Exchange) => one.operation === 'getLoan' && isOk(one) && one.id === exchange.id
    const { tag: _, ...missed } = refused(exchange, 404, 'loan_not_found')
    const isKnown = exchanges.some((one) => isShown(one) && isEarlier(one, exchange))
    return isKnown && exchange.instance && !exchange.token ? missed : undefined
  }),
  'a list of loans shows others than was asked for': done('listLoans', (exchange) => {
    const [first, ...rest] = exchange.body as Loan[]
    const status = exchange.page?.filters?.status === 'open' ? 'returned' : 'open'
    return first && exchange.page?.filters ? { ...exchange, body: [{ ...first, status }, ...rest] } : undefined
  }),
  'a list of loans leaves one out': done('listLoans', (exchange, { exchanges }) => {
    const [first, second, ...rest] = exchange.body as Loan[]
    const isShown = (one: Exchange) => one.operation === 'getLoan' && one.id === first?.id && isOk(one)
    const isKnown = exchange.instance && exchanges.some((one) => isShown(one) && isEarlier(one, exchange))
    return isKnown && second && !exchange.page?.filters
      ? { ...exchange, body: [second, ...rest], hasNext: false }
      : undefined
  }),
  'a history tells half of a record': inHistory((events, at) => events.filter((_, i) => i !== at + 1)),
  'a history leaves a record of several out': inHistory((events, at) =>
    events.filter((_, i) => i !== at && i !== at + 1),
  ),
  'a history tells a record the wrong way round': inHistory((events, at) => [
    ...[...events.slice(0, at), events[at + 1], events[at]],
    ...events.slice(at + 2),
  ]),
  'a history does not tell the index of an event': inHistory((events) =>
    events.map((event) => ({ ...(event as object), streamindex: undefined })),
  ),
  'a feed tells half of a record': done('followEvents', (exchange) => {
    const events = exchange.body as Told[]
    const rest = events.filter(({ streamindex }) => streamindex !== 1)
    return rest.length < events.length ? { ...exchange, body: rest } : undefined
  }),
  'a feed tells a record as it is in the log': done('followEvents', (exchange, { log }) => {
    const events = exchange.body as Told[]
    const first = events.findIndex(({ streamindex }) => streamindex === 0)
    const { subject, streamversion } = events[first] ?? {}
    const record = log.find(({ key, value }) => key === subject && value?.includes(`"streamversion":${streamversion},`))
    const body = record && [...events.slice(0, first), eventIn(record), ...events.slice(first + 2)]
    return body ? { ...exchange, body } : undefined
  }),
}

/** The loan that the book went on to, if the return did that. */
function lentOnBy({ number }: Exchange, { log }: History): { readonly data: Told } | undefined {
  const record = log.find((one) => writerOf(one) === number)
  return severalIn((record && eventIn(record)) ?? {})?.[1] as { readonly data: Told } | undefined
}

function bookIn({ body }: Exchange): Loan {
  return body as Loan
}

/** A request about the book was refused. */
function placed(exchange: Exchange, status: number, code: string): Exchange {
  const { tag: _, cached: __, token: ___, ...asked } = refused(exchange, status, code)
  return { ...asked, wanted: { memberId: 1 } }
}

function isAsked({ id, answeredMs }: Exchange, { exchanges }: History, operation: Exchange['operation']): boolean {
  return exchanges.some((one) => one.operation === operation && one.id === id && one.sentMs <= answeredMs)
}

/** Whether the same process had shown the book as it is here. */
function isKnownBefore(exchange: Exchange, { exchanges }: History): boolean {
  const isShown = (one: Exchange) =>
    one.operation === 'getBook' && isOk(one) && one.id === exchange.id && bookIn(one).status === bookIn(exchange).status
  return exchange.instance !== undefined && exchanges.some((one) => isShown(one) && isEarlier(one, exchange))
}

/** Whether it was lent on whenever it came back. */
function isNeverIn({ id }: Exchange, { log }: History): boolean {
  const own = log.filter(({ key }) => key === String(id)).map((record) => eventIn(record)?.type)
  return own.includes('library.Several.v1') && !own.includes('library.BookReturned.v1')
}

/** A bug in the history of a book that has a record of several, whose first event is at `at`. */
function inHistory(spoil: (events: readonly unknown[], at: number) => readonly unknown[]): Spoil {
  return done('listBookEvents', (exchange) => {
    const events = exchange.body as Told[]
    const at = events.findIndex(({ streamindex }) => streamindex === 0)
    return at < 0 ? undefined : { ...exchange, body: spoil(events, at) }
  })
}
