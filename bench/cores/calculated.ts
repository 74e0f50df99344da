/** Microseconds of CPU for each request. */
export interface Costs {
  readonly api: number
  readonly projector: number
  readonly kafka: number
  readonly redis: number
}

/** What runs on a machine, beside one Kafka and one Redis. */
export interface Processes {
  readonly cores: number
  readonly apis: number
  readonly projectors: number
}

/** Each projector has partitions of its own: by default a topic has six. */
const projectorsMax = 6
/** A form that reaches so much of the best one is good enough, where it has fewer processes. */
const goodEnough = 0.98

const parts = {
  apis: ({ apis }: Processes, { api }: Costs) => apis / api,
  projectors: ({ projectors }: Processes, { projector }: Costs) => projectors / projector,
  Redis: (_: Processes, { redis }: Costs) => 1 / redis,
  cores: ({ cores }: Processes, { api, projector, kafka, redis }: Costs, more: number) =>
    cores / (api + projector + kafka + redis + more),
} as const

/**
 * Requests a second at most: each process of Node, and Redis, works on one core, and all of them share the cores. `more` is what
 * a request costs beside them, in microseconds.
 */
export function highestRate(processes: Processes, costs: Costs, more = 0): number {
  return 1e6 * Math.min(...Object.values(parts).map((rate) => rate(processes, costs, more)))
}

/** What the highest rate is limited by. */
export function limits(processes: Processes, costs: Costs): string {
  const rates = Object.entries(parts).map(([name, rate]) => ({ name, rate: rate(processes, costs, 0) }))
  return rates.reduce((lowest, each) => (each.rate < lowest.rate ? each : lowest)).name
}

export interface CoreRow {
  readonly processes: Processes
}

/** For each number of cores the fewest processes that get the most out of them. */
export function coreRows(coreCounts: readonly number[], costs: Costs): CoreRow[] {
  return coreCounts.map((cores) => {
    const all = upTo(cores).flatMap((apis) => upTo(projectorsMax).map((projectors) => ({ cores, apis, projectors })))
    const best = Math.max(...all.map((processes) => highestRate(processes, costs)))
    const good = all.filter((processes) => highestRate(processes, costs) >= goodEnough * best)
    const fewest = good.toSorted((one, other) => one.apis + one.projectors - (other.apis + other.projectors))
    return { processes: fewest[0] as Processes }
  })
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}
