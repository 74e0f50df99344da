import type { Exchange } from '../judge/history.ts'
import type { Random } from '../lib/random.ts'
import { type Filters, insist, Known, type Turn } from './known.ts'
import type { Asked } from './recorder.ts'

/** How much of what is asked for are writes. */
const writing = 0.6
const members = 30

/**
 * What clients ask of the library: they add books, lend them, extend loans, return books and wait for them. Most are about
 * the last few, so that somebody waits for many a book that comes back.
 */
export class LibraryWorkload {
  readonly #random: Random
  readonly #known: Known
  /** That which somebody saw to be open. */
  readonly #loanOf = new Map<number, number>()
  #names = 0
  /** Whether nobody begins anything that writes. */
  onlyReads = false

  constructor(random: Random) {
    this.#random = random
    this.#known = new Known(random, filters)
  }

  tell(answer: Exchange): void {
    this.#known.tell(answer)
    if (answer.status === undefined || answer.status >= 300) return
    for (const told of [answer.body].flat()) this.#see(told as Told)
  }

  *act(): Turn {
    const random = this.#random
    const chance = this.onlyReads ? writing + random.next() * (1 - writing) : random.next()
    const book = this.#known.recent('books')
    const loan = this.#loanOf.get(this.#known.recent('books') ?? 0) ?? this.#known.recent('loans')
    const reservation = this.#known.recent('reservations')
    if (book === undefined || chance < 0.05) yield* this.#write(this.#newBook())
    else if (chance < 0.2) yield* this.#write(this.#ofMember('lendBook', book))
    else if (chance < 0.43) yield* this.#write(this.#ofMember('reserveBook', book))
    else if (loan !== undefined && chance < writing) yield* this.#change(loan)
    else if (loan !== undefined && chance < 0.67) yield* this.#known.get('loans', loan)
    else if (reservation !== undefined && chance < 0.76)
      yield* this.#known.get(random.pick(['reservations', 'loans']), reservation)
    else if (chance < 0.82) yield* this.#known.get('books', book)
    else if (chance < 0.88) yield { operation: 'listBookEvents', id: book }
    else yield* this.#known.browse(random.pick(['books', 'loans', 'loans', 'reservations']))
  }

  /** A book that was lent on has a loan with the id of the reservation. */
  #see({ id, bookId, status, data }: Told): void {
    if (data?.loanId !== undefined && data.bookId !== undefined) this.#loanOf.set(data.bookId, data.loanId)
    if (bookId === undefined) return
    if (status === 'open' || status === 'lent') this.#loanOf.set(bookId, id)
    else if (status === 'returned' && this.#loanOf.get(bookId) === id) this.#loanOf.delete(bookId)
  }

  *#write(asked: Asked): Turn {
    yield* this.#known.readBack(yield* insist(asked, this.#random))
  }

  /** Many ask at once where a book went that came back. */
  *#change(loan: number): Turn {
    const answer = yield this.#changeOf(loan)
    const { bookId, status } = (answer?.body ?? {}) as Partial<Told>
    if (status !== 'returned' || bookId === undefined || this.#random.chance(0.3)) yield* this.#known.readBack(answer)
    else yield { operation: 'listBookEvents', id: bookId }
  }

  #newBook(): Asked {
    const title = `book ${this.#names++}`
    return { operation: 'addBook', wanted: { title }, ...this.#keyed(title) }
  }

  #ofMember(operation: 'lendBook' | 'reserveBook', id: number): Asked {
    const wanted = { memberId: 1 + this.#random.below(members) }
    return { operation, id, wanted, ...this.#keyed(`${operation} ${this.#names++}`) }
  }

  #changeOf(id: number): Asked {
    const wanted = { do: this.#random.chance(0.75) ? 'return' : 'extend' } as const
    return { operation: 'changeLoan', id, wanted, ...this.#known.cachedOf('loans', id) }
  }

  #keyed(idempotencyKey: string): Pick<Asked, 'idempotencyKey'> {
    return this.#random.chance(0.5) ? { idempotencyKey } : {}
  }
}

const filters: Filters = {
  books: { status: ['in', 'lent'] },
  loans: { status: ['open', 'returned'], bookId: 'books' },
  reservations: { status: ['waiting', 'lent'] },
}

/** A loan, a reservation or an event, as an answer shows it. */
interface Told {
  readonly id: number
  readonly bookId?: number
  readonly status?: string
  readonly data?: { readonly loanId?: number; readonly bookId?: number }
}
