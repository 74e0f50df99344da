import type { Distribution } from '../lib/distribution.ts'

/** A line of a metric. */
export interface MetricSample {
  readonly labels?: Readonly<Record<string, string | number>>
  readonly value: number
  /** What follows the name of the metric. */
  readonly suffix?: string
}

/** A metric but for its name. Its samples are taken when it is asked for. */
export interface OwnMetric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly read: () => readonly MetricSample[]
}

/** Metrics and their names, but for that of the service. */
export type OwnMetrics = Readonly<Record<string, OwnMetric>>

export function counter(help: string, read: () => readonly MetricSample[]): OwnMetric {
  return { type: 'counter', help, read }
}

export function gauge(help: string, read: () => readonly MetricSample[]): OwnMetric {
  return { type: 'gauge', help, read }
}

/** A gauge without labels; no line while its value is unknown. */
export function figure(help: string, read: () => number | undefined): OwnMetric {
  return gauge(help, () => [read()].flatMap((value) => (value === undefined ? [] : [{ value }])))
}

/** A histogram of distributions, each with its labels. */
export function histogram(
  help: string,
  read: () => readonly (readonly [Distribution, MetricSample['labels']?])[],
): OwnMetric {
  return { type: 'histogram', help, read: () => read().flatMap((each) => samplesOf(...each)) }
}

function samplesOf({ bounds, counts, sum }: Distribution, labels: MetricSample['labels'] = {}): MetricSample[] {
  let upTo = 0
  const buckets = counts.map((count, index) => {
    upTo += count
    return { suffix: '_bucket', labels: { ...labels, le: bounds[index] ?? '+Inf' }, value: upTo }
  })
  return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: upTo }]
}
