import type { CachedDocument, Exchange, Page } from '../judge/history.ts'
import { collectionOf, operationOf, type Shown } from '../judge/operations.ts'
import type { Random } from '../lib/random.ts'
import type { Answered, Asked } from './recorder.ts'

/** Requests of one client: each goes on from what the one before was answered. Undefined: it did not arrive. */
export type Turn<T = void> = Generator<Asked, T, Answered | undefined>

/** A place in a list, for anybody to go on from. */
type Place = Required<Pick<Asked, 'operation' | 'page'>> & Pick<Asked, 'path'>

const attemptsMax = 40
const recentMax = 8
const placesMax = 30

/** The filters of each list, with the values that are asked for, or whose ids these are: any may be asked for together. */
export type Filters = Readonly<Partial<Record<Shown, Readonly<Record<string, readonly string[] | Shown>>>>>

/**
 * What clients tell each other: what there is to be rivals about, what they were last told of each, and places in lists. And
 * how they read that.
 */
export class Known {
  readonly #random: Random
  readonly #filters: Filters
  readonly #ids = new Map<Shown, number[]>()
  readonly #cached = new Map<string, CachedDocument>()
  readonly #places: Place[] = []

  constructor(random: Random, filters: Filters) {
    this.#random = random
    this.#filters = filters
  }

  tell({ operation, status, body, tag }: Exchange): void {
    const collection = collectionOf(operation)
    if (tag !== undefined) this.#cached.set(`${collection} ${idIn(body)}`, { tag, body })
    if (status === 201) this.#ids.set(collection, [...this.#idsOf(collection), idIn(body)])
  }

  /** Mostly one of the last few, so that several clients are about the same. */
  recent(collection: Shown): number | undefined {
    const ids = this.#idsOf(collection)
    const among = this.#random.chance(0.8) ? recentMax : ids.length
    return ids.at(-1 - this.#random.below(Math.min(among, ids.length) || 1))
  }

  /** What somebody was told of it, and not always the latest. */
  cachedOf(collection: Shown, id: number): Pick<Asked, 'cached'> {
    const cached = this.#random.chance(0.4) ? this.#cached.get(`${collection} ${id}`) : undefined
    return cached === undefined ? {} : { cached }
  }

  *get(collection: Shown, id: number): Turn {
    yield { operation: operationOf('get', collection), id, ...this.cachedOf(collection, id) }
  }

  /** Many look at once at what they wrote. */
  *readBack(answer: Answered | undefined): Turn {
    if (answer === undefined) return
    const { status = 0, operation, body, id = 0 } = answer
    if (status >= 300 || status === 0 || this.#random.chance(0.4)) return
    yield { operation: operationOf('get', collectionOf(operation)), id: body === undefined ? id : idIn(body) }
  }

  /** A list from its beginning, or from where somebody left off, and mostly its next pages. */
  *browse(collection: Shown): Turn {
    const isAnew = this.#places.length === 0 || this.#random.chance(0.5)
    let place: Place | undefined = isAnew ? this.#firstPage(collection) : this.#random.pick(this.#places)
    do {
      place = nextPlace(place, yield place)
      if (place !== undefined) this.#places.push(place)
      if (this.#places.length > placesMax) this.#places.shift()
    } while (place !== undefined && this.#random.chance(0.7))
  }

  #idsOf(collection: Shown): readonly number[] {
    return this.#ids.get(collection) ?? []
  }

  #firstPage(collection: Shown): Place {
    const page = { after: 0, limit: this.#random.pick([3, 10, 100]), ...this.#filtersOf(collection) }
    return { operation: operationOf('list', collection), page }
  }

  #filtersOf(collection: Shown): Pick<Page, 'filters'> {
    const chosen = Object.entries(this.#filters[collection] ?? {}).filter(() => this.#random.chance(0.5))
    if (chosen.length === 0) return {}
    const chooseFrom = (values: readonly string[] | Shown) =>
      typeof values === 'string' ? String(this.recent(values) ?? 1) : this.#random.pick(values)
    return { filters: Object.fromEntries(chosen.map(([name, values]) => [name, chooseFrom(values)])) }
  }
}

function idIn(body: unknown): number {
  return (body as { readonly id: number }).id
}

/** What has a key is sent until its outcome is known. Sometimes it is sent once more. */
export function* insist(asked: Asked, random: Random): Turn<Answered | undefined> {
  let answer = yield asked
  for (let attempt = 1; asked.idempotencyKey !== undefined && attempt < attemptsMax; attempt++) {
    const isOpen = answer?.status === undefined || answer.status >= 500
    if (!isOpen && !random.chance(0.2)) break
    answer = yield asked
  }
  return answer
}

function nextPlace({ operation, page }: Place, answer: Answered | undefined): Place | undefined {
  if (!answer?.hasNext) return undefined
  const after = (answer.body as readonly { readonly id: number }[]).at(-1)?.id ?? 0
  return { operation, page: { ...page, after }, ...(answer.link !== undefined && { path: answer.link }) }
}
