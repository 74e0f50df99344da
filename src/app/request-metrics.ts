import { Counter, Gauge, type Metric, type Registry } from 'prom-client'
import type { GroupCommit } from '../event-log/group-commit.ts'
import type { Traffic } from '../http/traffic.ts'
import type { Distribution } from '../lib/distribution.ts'

/** Requests, as they were counted; nothing of prom-client is touched while they are served. */
export function addTrafficMetrics(
  registry: Registry,
  traffic: Pick<Traffic, 'inFlight' | 'refusals' | 'counts'>,
): void {
  const registers = [registry]
  new Counter({
    registers,
    labelNames: ['route', 'method', 'status'],
    name: 'petstore_http_requests_total',
    help: 'Requests that were answered, by route; 499 where the client left first',
    collect() {
      this.reset()
      for (const { route, method, byStatus } of traffic.counts) {
        for (const [status, count] of byStatus) this.inc({ route, method, status }, count)
      }
    },
  })
  addHistogram(registry, 'petstore_http_request_duration_seconds', 'Time from taking a request up to its answer', () =>
    traffic.counts.flatMap(({ route, method, seconds }) => (seconds ? [[{ route, method }, seconds]] : [])),
  )
  new Gauge({
    registers,
    name: 'petstore_http_requests_in_flight',
    help: 'Requests that are not answered yet, followers of the events and this request among them',
    collect() {
      this.set(traffic.inFlight)
    },
  })
  new Counter({
    registers,
    labelNames: ['code'],
    name: 'petstore_http_refusals_total',
    help: 'Error answers, by their code',
    collect() {
      this.reset()
      for (const [code, count] of traffic.refusals) this.inc({ code }, count)
    },
  })
}

/** Undefined `appender`: this process serves no API, and there are no lines. */
export function addAppendMetrics(
  registry: Registry,
  appender: Pick<GroupCommit, 'appendRecords' | 'appendSeconds'> | undefined,
): void {
  addHistogram(registry, 'petstore_append_batch_records', 'Records in each append to the log', () =>
    appender === undefined ? [] : [[{}, appender.appendRecords]],
  )
  addHistogram(registry, 'petstore_append_duration_seconds', 'How long each append to the log took', () =>
    appender === undefined ? [] : [[{}, appender.appendSeconds]],
  )
}

type Labels = Readonly<Record<string, string>>

/** A histogram that was filled elsewhere: prom-client's own can only be filled value by value. */
function addHistogram(
  registry: Registry,
  name: string,
  help: string,
  read: () => readonly (readonly [Labels, Distribution])[],
): void {
  const get = async () => ({
    ...{ name, help, type: 'histogram', aggregator: 'sum' },
    values: read().flatMap(([labels, distribution]) => histogramValues(name, labels, distribution)),
  })
  registry.registerMetric({ name, get } as unknown as Metric)
}

function histogramValues(name: string, labels: Labels, { bounds, counts, sum }: Distribution): object[] {
  let upTo = 0
  const buckets = counts.map((count, index) => {
    upTo += count
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[index] ?? '+Inf' }, value: upTo }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: upTo },
  ]
}
