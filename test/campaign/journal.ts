import type { Exchange } from '../judge/history.ts'
import type { Fault } from './faults/fault.ts'

/** A fault as it happened. */
interface Inflicted {
  readonly kind: string
  /** Whether no other fault happened meanwhile. */
  readonly isAlone: boolean
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

/** A kind of fault. All but `times` is of those that were alone. */
export interface FaultSummary {
  readonly kind: string
  readonly times: number
  readonly timesAlone: number
  /** The longest, until all was served again. */
  readonly longestMs: number
  /** The longest time without any 2xx, from the fault's beginning to the first 2xx after its end. */
  readonly longestSilenceMs: number
  /** How many answers of each kind came while it lasted. */
  readonly seen: Readonly<Record<Seen, number>>
}

/** Which faults happened when, and what clients were answered meanwhile. */
export class Journal {
  readonly #inflicted: Inflicted[] = []
  readonly #answers: Answer[] = []
  #served = 0

  get faults(): number {
    return this.#inflicted.length
  }

  /** How many requests were answered 2xx. */
  get served(): number {
    return this.#served
  }

  inflicted(fault: Inflicted): void {
    this.#inflicted.push(fault)
  }

  /** Keeps that a fault happened while `inflict` was under way, unless this resolves to false. Resolves to the same. */
  async during({ kind }: Pick<Fault, 'kind'>, isAlone: boolean, inflict: () => Promise<boolean>): Promise<boolean> {
    const startMs = performance.now()
    const happened = await inflict()
    if (happened) this.inflicted({ kind, isAlone, startMs, endMs: performance.now() })
    return happened
  }

  answered({ status, answeredMs }: Exchange): void {
    const seen = seenOf(status)
    this.#answers.push({ ms: answeredMs, seen })
    if (seen === '2xx') this.#served++
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

function summarise(kind: string, all: readonly Inflicted[], answers: readonly Answer[]): FaultSummary {
  const alone = all.filter(({ isAlone }) => isAlone)
  const seen = { '2xx': 0, '4xx': 0, '503': 0, '504': 0, '500': 0, lost: 0 }
  for (const { ms, seen: each } of answers) {
    if (alone.some(({ startMs, endMs }) => startMs <= ms && ms <= endMs)) seen[each]++
  }
  return {
    kind,
    times: all.length,
    timesAlone: alone.length,
    longestMs: Math.max(0, ...alone.map(({ startMs, endMs }) => endMs - startMs)),
    longestSilenceMs: Math.max(0, ...alone.map((fault) => silenceOf(fault, answers))),
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
  return [...Map.groupBy(summaries, ({ kind }) => kind)].map(([kind, same]) => {
    const sum = (of: (summary: FaultSummary) => number) => same.reduce((total, one) => total + of(one), 0)
    return {
      kind,
      times: sum(({ times }) => times),
      timesAlone: sum(({ timesAlone }) => timesAlone),
      longestMs: Math.max(...same.map(({ longestMs }) => longestMs)),
      longestSilenceMs: Math.max(...same.map(({ longestSilenceMs }) => longestSilenceMs)),
      seen: Object.fromEntries(allSeen.map((each) => [each, sum(({ seen }) => seen[each])])) as Record<Seen, number>,
    }
  })
}
