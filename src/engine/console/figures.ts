import type { Traffic } from '../http/wire/traffic.ts'
import { type KnownLag, type Lag, parkedIn } from '../projector/lag-meter.ts'
import type { Mark, Sample } from './answers.ts'

interface Sources {
  readonly lag: { readonly lag: Lag }
  readonly traffic: Pick<Traffic, 'counts' | 'errors'>
  readonly now: () => number
}

export const sampleMs = 5000
/** Fifteen minutes. */
export const samplesMax = 180
const marksMax = 100

/** What a process remembers of the last quarter of an hour: a sample every five seconds, and what happened. */
export class Figures {
  readonly samples: Sample[] = []
  readonly marks: Mark[] = []
  readonly #sources: Sources
  #before: Totals

  constructor(sources: Sources) {
    this.#sources = sources
    this.#before = totalsOf(sources)
    this.#mark(['this process started'])
  }

  /** Call it every `sampleMs`. */
  take(): void {
    const [before, after] = [this.#before, totalsOf(this.#sources)]
    this.#before = after
    this.samples.push({ number: (this.samples.at(-1)?.number ?? 0) + 1, ...sampleOf(before, after) })
    if (this.samples.length > samplesMax) this.samples.shift()
    this.#mark(changesOf(before, after))
  }

  after(number: number): readonly Sample[] {
    return this.samples.filter((sample) => sample.number > number)
  }

  #mark(happened: readonly string[]): void {
    this.marks.push(...happened.map((what) => ({ at: this.#before.at, what })))
    this.marks.splice(0, this.marks.length - marksMax)
  }
}

interface Totals {
  readonly at: number
  readonly lag: Lag
  /** How many answers took up to each bound, in seconds, and more than all of them. */
  readonly bounds: readonly number[]
  readonly answered: readonly number[]
  readonly requests: number
  readonly errors: ReadonlyMap<string, number>
}

function totalsOf({ lag: { lag }, traffic, now }: Sources): Totals {
  const { counts } = traffic
  const timed = counts.flatMap(({ seconds }) => seconds ?? [])
  const bounds = timed[0]?.bounds ?? []
  const answered = [...bounds, 0].map((_, bucket) => sum(timed.map((each) => each.counts[bucket] ?? 0)))
  const requests = sum(counts.flatMap(({ byStatus }) => [...byStatus.values()]))
  return { at: now(), lag, bounds, answered, requests, errors: new Map(traffic.errors) }
}

function sampleOf(before: Totals, after: Totals): Omit<Sample, 'number'> {
  const seconds = Math.max(0.001, (after.at - before.at) / 1000)
  const [earlier, later] = [before.lag, after.lag]
  const rate = (figure: (lag: KnownLag) => number) => {
    if (earlier.status === 'unknown' || later.status === 'unknown') return
    const change = figure(later) - figure(earlier)
    return change < 0 ? undefined : change / seconds // another log, or another generation
  }
  const positions = (lag: KnownLag) => sum(lag.partitions.map(({ checkpoint }) => checkpoint.next))
  const behind = (lag: KnownLag) => sum(lag.partitions.map(({ events }) => events))
  const buckets = after.answered.map((count, bucket) => count - (before.answered[bucket] ?? 0))
  return {
    at: after.at,
    appended: rate((lag) => positions(lag) + behind(lag)),
    projected: rate(positions),
    ...(later.status === 'known' && {
      lagEvents: behind(later),
      lagSeconds: Math.max(0, ...later.partitions.map((each) => each.seconds)),
    }),
    requests: (after.requests - before.requests) / seconds,
    p50: quantile(0.5, after.bounds, buckets),
    p99: quantile(0.99, after.bounds, buckets),
    errors: Object.fromEntries(
      [...after.errors].flatMap(([code, count]) => {
        const more = count - (before.errors.get(code) ?? 0)
        return more > 0 ? [[code, more]] : []
      }),
    ),
  }
}

/** In milliseconds, as if the answers of a bucket were spread evenly over it. Undefined where there are none. */
function quantile(share: number, bounds: readonly number[], buckets: readonly number[]): number | undefined {
  const wanted = sum(buckets) * share
  let below = 0
  for (const [bucket, count] of buckets.entries()) {
    if (count > 0 && below + count >= wanted) {
      const [from = 0, to = from] = [bounds[bucket - 1], bounds[bucket]]
      return (from + ((to - from) * (wanted - below)) / count) * 1000
    }
    below += count
  }
  return undefined
}

function changesOf({ lag: before }: Totals, { lag: after }: Totals): string[] {
  if (after.status === 'unknown') {
    const isNew = (answers: 'logAnswers' | 'readModelsAnswer') =>
      after[answers] === false && (before.status === 'known' || before[answers] !== false)
    return [
      ...(isNew('logAnswers') ? ['the event log went away'] : []),
      ...(isNew('readModelsAnswer') ? ['the read models went away'] : []),
    ]
  }
  if (before.status === 'unknown') return before.logAnswers === undefined ? [] : ['all answers again']
  const parked = parkedIn(after.partitions) - parkedIn(before.partitions)
  return [
    ...(parked > 0 ? [`${parked} parked`] : []),
    ...(before.generation === after.generation ? [] : [generationChange(before)]),
    ...(before.rebuildEvents === undefined && after.rebuildEvents !== undefined ? ['a rebuild began'] : []),
  ]
}

function generationChange({ rebuildEvents }: { readonly rebuildEvents?: number | undefined }): string {
  return rebuildEvents === undefined ? 'the read models were lost, and begun anew' : 'a rebuild took over'
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
