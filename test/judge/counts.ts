import { petStatuses } from '../../src/store/pet.ts'
import { checkToken, nameOf, tokenFloor } from './answers.ts'
import type { Floors } from './floors.ts'
import { type Contradiction, contradiction, type Exchange } from './history.ts'
import { isAskedFor } from './pages.ts'
import type { Prefixes, State } from './prefixes.ts'
import { membersOf } from './values.ts'

const statuses: readonly string[] = petStatuses

/** How many pets have each status. */
type Counts = readonly number[]

/**
 * What is counted are the pets of one prefix of each partition. Where the token of the answer names it, the counts are
 * exact. Else each is within what the prefixes that a list could show come to: their sums by combination have no bound.
 */
export function* checkCount(exchange: Exchange, prefixes: Prefixes, floors: Floors): Generator<Contradiction> {
  const { body, token, tokenAfter, answeredMs } = exchange
  const told = statuses.map((status) => Number(membersOf(body)[status]))
  const [least, most] = [statuses.map(() => 0), statuses.map(() => 0)]
  let isPossible = true
  for (const partition of prefixes.records.keys()) {
    const floor = Math.max(tokenFloor(token, partition), floors.of(exchange, partition).n)
    const named = tokenAfter === undefined ? undefined : tokenFloor(tokenAfter, partition)
    const [from, to] = named === undefined ? [floor, prefixes.largestAt(partition, answeredMs)] : [named, named]
    if (from < floor) isPossible = false
    const own = countsBetween(exchange, prefixes, partition, from, to)
    for (const at of statuses.keys()) {
      const counts = own.map((each) => each[at] ?? 0)
      least[at] = (least[at] ?? 0) + Math.min(...counts)
      most[at] = (most[at] ?? 0) + Math.max(...counts)
    }
  }
  if (!isPossible || told.some((count, at) => !(count >= (least[at] ?? 0) && count <= (most[at] ?? 0)))) {
    const what = `${nameOf(exchange)} counts ${told.join(', ')}, which no prefixes of the log come to.`
    yield contradiction('impossible count', what, [exchange])
  }
  floors.answered(exchange)
  if (token !== undefined || tokenAfter !== undefined) yield* checkToken(exchange, [], prefixes)
}

/** What the prefixes of a partition come to, from one to another. */
function countsBetween({ page }: Exchange, prefixes: Prefixes, partition: number, from: number, to: number): Counts[] {
  const placeOf = (state: State | undefined) =>
    state === undefined || state.isRemoved || !isAskedFor(state.members, page) ? -1 : statuses.indexOf(state.status)
  const counts = statuses.map(() => 0)
  const changes: { readonly since: number; readonly before: number; readonly after: number }[] = []
  for (const { states } of prefixes.documents('pets', partition, 0, Number.POSITIVE_INFINITY)) {
    const first = states.findLastIndex(({ since }) => since <= from)
    move(counts, -1, placeOf(states[first]))
    for (let at = first + 1; at < states.length && (states[at]?.since ?? to) <= to; at++) {
      const [before, after] = [placeOf(states[at - 1]), placeOf(states[at])]
      if (before !== after) changes.push({ since: states[at]?.since ?? 0, before, after })
    }
  }
  const found: Counts[] = [[...counts]]
  const bySince = Map.groupBy(changes, ({ since }) => since)
  for (const since of [...bySince.keys()].sort((one, other) => one - other)) {
    for (const { before, after } of bySince.get(since) ?? []) move(counts, before, after)
    found.push([...counts])
  }
  return found
}

function move(counts: number[], from: number, to: number): void {
  if (from >= 0) counts[from] = (counts[from] ?? 0) - 1
  if (to >= 0) counts[to] = (counts[to] ?? 0) + 1
}
