import { type Column, table } from '../table.ts'
import { type RequestName, requestNames } from './requests.ts'

/** Microseconds of CPU per request of one round; nothing for requests that the server does not know. */
export type Costs = Readonly<Partial<Record<RequestName, number>>>

/** One start of all servers: of each server, by its name, the costs of each round. */
export type Start = Readonly<Record<string, readonly Costs[]>>

/** A median, and where the true one lies with a probability of 95 %. */
export interface Estimate {
  readonly median: number
  readonly low: number
  readonly high: number
}

export const startsForInterval = 6

/**
 * The interval is from the k-th lowest to the k-th highest figure, whatever their distribution: k is the highest one for which
 * a true median is outside with a probability of 5 % at most. Fewer than six figures have no such k: it is their whole range.
 */
export function estimate(figures: readonly number[]): Estimate {
  const sorted = figures.toSorted((a, b) => a - b)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const last = sorted.length - 1
  const left = leftOut(sorted.length)
  return { median: (at(last >> 1) + at((last + 1) >> 1)) / 2, low: at(left), high: at(last - left) }
}

/** How many figures an interval of 95 % leaves out at each end. */
function leftOut(count: number): number {
  let outside = 0
  let ways = 1
  for (let each = 0; each < count; each++) {
    outside += (2 * ways) / 2 ** count
    if (outside > 0.05) return Math.max(0, each - 1)
    ways = (ways * (count - each)) / (each + 1)
  }
  return 0
}

/** Over the starts: a process keeps what V8 made of it, so that all of its rounds are one figure, their median. */
export function costOf(starts: readonly Start[], server: string, request: RequestName): Estimate | undefined {
  return overStarts(starts, (start) => start[server]?.map((costs) => costs[request]))
}

/** What `server` costs in parts of `base`. Each ratio compares two rounds that followed one another. */
export function ratioOf(
  starts: readonly Start[],
  server: string,
  base: string,
  [request, ofBase = request]: readonly [RequestName, RequestName?],
): Estimate | undefined {
  return overStarts(starts, (start) =>
    start[server]?.map((costs, round) => {
      const [cost, reference] = [costs[request], start[base]?.[round]?.[ofBase]]
      return cost !== undefined && reference !== undefined ? cost / reference : undefined
    }),
  )
}

function overStarts(
  starts: readonly Start[],
  figuresOf: (start: Start) => readonly (number | undefined)[] | undefined,
): Estimate | undefined {
  const medians = starts.flatMap((start) => {
    const figures = (figuresOf(start) ?? []).filter((figure) => figure !== undefined)
    return figures.length === 0 ? [] : [estimate(figures).median]
  })
  return medians.length === 0 ? undefined : estimate(medians)
}

export const bare = 'bare Fastify'

interface Row {
  readonly title: string
  readonly digits: number
  readonly of: (request: RequestName) => Estimate | undefined
}

/** The first of `checkouts` is compared with the others. */
export function costTables(starts: readonly Start[], checkouts: readonly [string, ...string[]]): string {
  const [changed, ...others] = checkouts
  const costs = [bare, ...checkouts].map(
    (server): Row => ({ title: server, digits: 1, of: (request) => costOf(starts, server, request) }),
  )
  const toBare = checkouts.map(
    (server): Row => ({
      title: `${server}, to bare`,
      digits: 2,
      of: (request) => ratioOf(starts, server, bare, [request, bareRequest(request)]),
    }),
  )
  const toOthers = others.map(
    (server): Row => ({
      title: `${changed}, to ${server}`,
      digits: 3,
      of: (request) => ratioOf(starts, changed, server, [request]),
    }),
  )
  return [tableOf('CPU per request, µs', costs), tableOf('ratios', [...toBare, ...toOthers])].join('\n')
}

function tableOf(title: string, rows: readonly Row[]): string {
  const columns: Column<Row>[] = requestNames.map((name) => ({ title: name, cell: (row) => cell(row, name) }))
  return table([{ title, cell: (row) => row.title }, ...columns], rows)
}

function cell({ of, digits }: Row, request: RequestName): string {
  const estimated = of(request)
  if (estimated === undefined) return ''
  const [median, low, high] = [estimated.median, estimated.low, estimated.high].map((figure) => figure.toFixed(digits))
  return `${median} (${low}-${high})`
}

/** What the bare server is asked in place of a request. */
function bareRequest(request: RequestName): RequestName {
  return request === 'GET by id' || request === 'page of 20' ? 'GET by id' : 'POST'
}
