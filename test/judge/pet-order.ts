import type { Exchange, Order, Pet } from './history.ts'

/** A pet and its orders after some of the writes. */
export interface PetState {
  /** Undefined: there is no such pet yet. */
  readonly pet: Pet['status'] | undefined
  readonly orders: ReadonlyMap<number, Order['status']>
}

export type Change =
  | { readonly type: 'create'; readonly status: Pet['status'] }
  /** Without an id if nobody was told of the order: it is then one of `unplaced`, or one that nobody ever saw. */
  | { readonly type: 'place'; readonly order: number | undefined; readonly unplaced: readonly number[] }
  | { readonly type: 'update'; readonly order: number; readonly status: Order['status'] }

/** A change that happened once between the two times if it is certain, and otherwise once or never. */
export interface Write {
  readonly change: Change
  readonly attempts: readonly Exchange[]
  readonly isCertain: boolean
  readonly sentMs: number
  readonly answeredMs: number
}

/** What an answer tells about the state of the pet at one moment before it was answered. */
export interface Observation {
  readonly exchange: Exchange
  readonly matches: (state: PetState) => boolean
  /** Index of the observation whose state this one must include. */
  readonly behind: number | undefined
}

/** The statuses which an order may have before it gets this one. */
export const statusesBefore: Readonly<Record<Order['status'], readonly Order['status'][]>> = {
  placed: [],
  approved: ['placed'],
  delivered: ['approved'],
  cancelled: ['placed', 'approved'],
}

const petStatusWith = { placed: 'pending', approved: 'pending', delivered: 'sold', cancelled: 'available' } as const

/** Whether some order of the writes, within their times, explains all observations. */
export function isExplained(writes: readonly Write[], observations: readonly Observation[]): boolean {
  const unmatched = [...observations.keys()]
  return new Search(writes, observations).visit({ done: 0n, unmatched, latestMs: -1 }, initialState)
}

const initialState: PetState = { pet: undefined, orders: new Map() }

interface Progress {
  /** The set of writes done, as bits by index. */
  readonly done: bigint
  /** Indexes of the observations that no state has explained so far, in ascending order. */
  readonly unmatched: readonly number[]
  /** When the last of the writes done was sent. */
  readonly latestMs: number
}

/** Goes through the orders depth first. Each observation is matched as early as possible, which never excludes another. */
class Search {
  readonly #writes: readonly Write[]
  readonly #observations: readonly Observation[]
  readonly #visited = new Set<string>()

  constructor(writes: readonly Write[], observations: readonly Observation[]) {
    this.#writes = writes
    this.#observations = observations
  }

  visit({ done, unmatched: before, latestMs }: Progress, state: PetState): boolean {
    const unmatched = this.#match(state, before)
    const missing = this.#writes.filter((write, at) => write.isCertain && !has(done, at))
    if (missing.length === 0 && unmatched.length === 0) return true
    const place = `${done} ${unmatched} ${state.pet} ${[...state.orders].sort(([a], [b]) => a - b)}`
    if (this.#visited.has(place)) return false
    this.#visited.add(place)
    const lastMs = Math.min(
      ...missing.map(({ answeredMs }) => answeredMs),
      ...unmatched.map((at) => this.#observations[at]?.exchange.answeredMs ?? 0),
    )
    return this.#writes.some((write, at) => {
      // What was answered before this write was sent comes before it.
      if (has(done, at) || write.answeredMs < latestMs || write.sentMs > lastMs) return false
      const progress = { done: done | (1n << BigInt(at)), unmatched, latestMs: Math.max(latestMs, write.sentMs) }
      return statesAfter(state, write.change).some((next) => this.visit(progress, next))
    })
  }

  #match(state: PetState, before: readonly number[]): number[] {
    const unmatched = new Set(before)
    for (const at of before) {
      const { behind = -1, matches } = this.#observations[at] ?? {}
      if (!unmatched.has(behind) && matches?.(state)) unmatched.delete(at)
    }
    return [...unmatched]
  }
}

function has(set: bigint, at: number): boolean {
  return ((set >> BigInt(at)) & 1n) === 1n
}

/** The states to which a change may lead; none if it cannot happen now. */
function statesAfter({ pet, orders }: PetState, change: Change): PetState[] {
  if (change.type === 'create') return pet === undefined ? [{ pet: change.status, orders }] : []
  const withOrder = (id: number, status: Order['status']) => ({
    pet: petStatusWith[status],
    orders: new Map(orders).set(id, status),
  })
  if (change.type === 'place') {
    const neverSeen = -1 - orders.size
    const ids = change.order === undefined ? [...change.unplaced, neverSeen] : [change.order]
    return pet === 'available' ? ids.filter((id) => !orders.has(id)).map((id) => withOrder(id, 'placed')) : []
  }
  const current = orders.get(change.order)
  const isAllowed = current !== undefined && statusesBefore[change.status].includes(current)
  return isAllowed ? [withOrder(change.order, change.status)] : []
}
