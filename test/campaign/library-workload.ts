import type { Exchange } from '../judge/history.ts'
import type { Random } from '../lib/random.ts'
import { insist, Known, type Turn } from './known.ts'
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
  #names = 0
  /** Whether nobody begins anything that writes. */
  onlyReads = false

  constructor(random: Random) {
    this.#random = random
    this.#known = new Known(random, filters)
  }

  /** A loan that is seen to be open is known, too: nobody is told of those that books are lent on with. */
  tell(answer: Exchange): void {
    this.#known.tell(answer)
    const { operation, status, body, tag: _, ...rest } = answer
    if (status !== 200 || (operation !== 'listLoans' && operation !== 'getReservation')) return
    const [open] = [body]
      .flat()
      .filter((each) => ['open', 'lent'].includes((each as { status: string }).status))
      .slice(-1)
    if (open !== undefined) this.#known.tell({ ...rest, operation: 'lendBook', status: 201, body: open })
  }

  *act(): Turn {
    const random = this.#random
    const chance = this.onlyReads ? writing + random.next() * (1 - writing) : random.next()
    const book = this.#known.recent('books')
    const loan = this.#known.recent('loans')
    const reservation = this.#known.recent('reservations')
    if (book === undefined || chance < 0.07) yield* this.#write(this.#newBook())
    else if (chance < 0.22) yield* this.#write(this.#ofMember('lendBook', book))
    else if (chance < 0.4) yield* this.#write(this.#ofMember('reserveBook', book))
    else if (loan !== undefined && chance < writing) yield* this.#write(this.#changeOf(loan))
    else if (loan !== undefined && chance < 0.67) yield* this.#known.get('loans', loan)
    else if (reservation !== undefined && chance < 0.76)
      yield* this.#known.get(random.pick(['reservations', 'loans']), reservation)
    else if (chance < 0.82) yield* this.#known.get('books', book)
    else if (chance < 0.88) yield { operation: 'listBookEvents', id: book }
    else yield* this.#known.browse(random.pick(['books', 'loans', 'loans', 'reservations']))
  }

  *#write(asked: Asked): Turn {
    yield* this.#known.readBack(yield* insist(asked, this.#random))
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

const filters = {
  books: { status: ['in', 'lent'] },
  loans: { status: ['open', 'returned'] },
  reservations: { status: ['waiting', 'lent'] },
}
