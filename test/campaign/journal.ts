import type { Exchange } from './history.ts'

/** A fault as it happened. */
interface Inflicted {
  readonly kind: string
  readonly startMs: number
  readonly endMs: number
}

interface Answer {
  readonly ms: number
  readonly seen: Seen
}

/** What a client may see. `lost`: no answer came. */
export type Seen = '2xx' | '4xx' | '503' | '504' | '500' | 'lost'
export const allSeen: readonly Seen[] = ['2xx', '4xx', '503', '504', '500', 'lost']

/** A kind of fault, over all times that it happened. */
export interface FaultSummary {
  readonly kind: string
  readonly times: number
  /** From the beginning until it was put right, the longest. */
  readonly longestMs: number
  /** The longest time without any 2xx, from the fault's beginning to the first 2xx after its end. */
  readonly longestSilenceMs: number
  /** How many answers of each kind came while it lasted. */
  readonly seen: Readonly<Record<Seen, number>>
}

/** Which faults happened when, and what clients were answered meanwhile. Faults overlap, so an answer counts for each. */
export class Journal {
  readonly #inflicted: Inflicted[] = []
  readonly #answers: Answer[] = []

  get faults(): number {
    return this.#inflicted.length
  }

  get answers(): number {
    return this.#answers.length
  }

  inflicted(fault: Inflicted): void {
    this.#inflicted.push(fault)
  }

  answered({ status, answeredMs }: Exchange): void {
    this.#answers.push({ ms: answeredMs, seen: seenOf(status) })
  }

  summary(): FaultSummary[] {
    const answers = this.#answers.toSorted((one, other) => one.ms - other.ms)
    const byKind = Map.groupBy(this.#inflicted, ({ kind }) => kind)
    return [...byKind].map(([kind, times]) => summarise(kind, times, answers))
  }
}

function seenOf(status: number | undefined): Seen {
  if (status === undefined) return 'lost'
  if (status === 503 || status === 504 || status === 500) return String(status) as Seen
  return status < 400 ? '2xx' : '4xx'
}

function summarise(kind: string, times: readonly Inflicted[], answers: readonly Answer[]): FaultSummary {
  const seen = { '2xx': 0, '4xx': 0, '503': 0, '504': 0, '500': 0, lost: 0 }
  for (const { ms, seen: each } of answers) {
    if (times.some(({ startMs, endMs }) => startMs <= ms && ms <= endMs)) seen[each]++
  }
  return {
    kind,
    times: times.length,
    longestMs: Math.max(...times.map(({ startMs, endMs }) => endMs - startMs)),
    longestSilenceMs: Math.max(...times.map((fault) => silenceOf(fault, answers))),
    seen,
  }
}

function silenceOf({ startMs, endMs }: Inflicted, answers: readonly Answer[]): number {
  let [last, longest] = [startMs, 0]
  for (const { ms, seen } of answers) {
    if (ms < startMs || seen !== '2xx') continue
    longest = Math.max(longest, ms - last)
    last = ms
    if (ms > endMs) break
  }
  return longest
}

/** The same kinds of several runs as one. */
export function added(summaries: readonly FaultSummary[]): FaultSummary[] {
  const byKind = Map.groupBy(summaries, ({ kind }) => kind)
  const sum = (same: readonly FaultSummary[], seen: Seen) => same.reduce((total, one) => total + one.seen[seen], 0)
  const total = (same: readonly FaultSummary[]) =>
    Object.fromEntries(allSeen.map((seen) => [seen, sum(same, seen)])) as Record<Seen, number>
  return [...byKind].map(([kind, same]) => ({
    kind,
    times: same.reduce((count, { times }) => count + times, 0),
    longestMs: Math.max(...same.map(({ longestMs }) => longestMs)),
    longestSilenceMs: Math.max(...same.map(({ longestSilenceMs }) => longestSilenceMs)),
    seen: total(same),
  }))
}
