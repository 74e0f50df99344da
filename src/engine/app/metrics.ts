import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import type { AcknowledgedEvents } from '../commands/acknowledged-events.ts'
import type { EventFeed } from '../feed/event-feed.ts'
import type { Metrics } from '../http/routes/health.ts'
import type { Traffic } from '../http/wire/traffic.ts'
import { release } from '../lib/operating/release.ts'
import type { Warning } from '../lib/operating/warning.ts'
import type { EventLog } from '../log/event-log.ts'
import type { GroupCommit } from '../log/group-commit.ts'
import { type Lag, type PartitionLag, parkedIn } from '../projector/lag-meter.ts'
import type { IncompleteGenerations } from '../read-models/incomplete.ts'
import type { ReadModelStore } from '../read-models/ports/store.ts'
import type { LogOutput } from './log-output.ts'
import { counter, figure, gauge, histogram, type MetricSample, type OwnMetrics } from './metric-samples.ts'
import type { Publishing } from './publishing.ts'
import { publishingMetrics } from './publishing-metrics.ts'
import type { SettingFiles } from './setting-files.ts'

export interface MetricsOptions {
  readonly lag: { readonly lag: Lag }
  readonly log: Pick<EventLog, 'undecodable' | 'warnings'>
  /** Undefined in a process that serves no API. */
  readonly feed: Pick<EventFeed, 'followers'> | undefined
  readonly appender: Pick<GroupCommit, 'queued' | 'appendRecords' | 'appendSeconds'> | undefined
  readonly acknowledged: Pick<AcknowledgedEvents, 'lost' | 'unfollowed'> | undefined
  /** Undefined in a process that publishes nothing. */
  readonly publishing: Pick<Publishing, 'states'> | undefined
  readonly traffic: Pick<Traffic, 'inFlight' | 'errors' | 'counts' | 'waitingBytes' | 'closed'>
  readonly shards: readonly {
    readonly store: Pick<ReadModelStore, 'warnings'>
    readonly incomplete: Pick<IncompleteGenerations, 'count'>
  }[]
  readonly output: Pick<LogOutput, 'lost' | 'warnings'>
  readonly settingFiles: Pick<SettingFiles, 'warnings'>
}

/**
 * What operators watch, in the text format of Prometheus; the names begin with that of the service. Values are taken when they are asked for, from the last look
 * of the lag meter; what that does not know has no line, so that no stale or made-up figure is drawn.
 */
export function serviceMetrics(service: string, sources: MetricsOptions): Metrics {
  const registry = new Registry() // not the global one, which outlives a service closed in this process
  collectDefaultMetrics({ register: registry })
  const definitions = {
    ...projectionMetrics(sources),
    ...publishingMetrics(sources.publishing),
    ...apiMetrics(sources),
    ...processMetrics(sources),
  }
  for (const [metricOf, { type, help, read }] of Object.entries(definitions)) {
    const name = `${service}_${metricOf}`
    const values = () => read().map(({ suffix = '', ...sample }) => ({ ...sample, metricName: name + suffix }))
    // The metrics of prom-client itself would have to be told each value.
    const metric = { name, get: async () => ({ name, help, type, aggregator: 'sum', values: values() }) }
    registry.registerMetric(metric as unknown as Metric)
  }
  return { contentType: registry.contentType, text: () => registry.metrics() }
}

function processMetrics({ output }: MetricsOptions): OwnMetrics {
  return {
    log_lines_lost_total: counter('Lines of the log that could not be written', () => [{ value: output.lost }]),
    build_info: gauge('Always 1: the release of this process, and that of Node', () => [
      { labels: { version: release, node: process.versions.node }, value: 1 },
    ]),
  }
}

const outcomes = ['applied', 'duplicate', 'superseded', 'discarded', 'skipped'] as const

function projectionMetrics({ lag: source, log, shards, output, publishing, settingFiles }: MetricsOptions): OwnMetrics {
  const known = () => (source.lag.status === 'known' ? source.lag : undefined)
  const partitions = () => known()?.partitions ?? []
  const ofReadModels = () => shards.flatMap(({ store }) => store.warnings)
  const byPartition = (figureOf: (lag: PartitionLag) => number) => () =>
    partitions().map((lag) => ({ labels: { partition: lag.partition }, value: figureOf(lag) }))
  return {
    projection_lag_events: gauge(
      'Records in the log that the read models do not have yet',
      byPartition(({ events }) => events),
    ),
    projection_lag_seconds: gauge(
      'For how long the read models have been behind the log, as seen by this process',
      byPartition(({ seconds }) => seconds),
    ),
    projection_records_total: counter(
      'Records handled for the active read models, by what became of them; those parked are a gauge of their own',
      () =>
        partitions().flatMap(({ partition, checkpoint: { counts } }) =>
          outcomes.map((outcome) => ({ labels: { partition, outcome }, value: counts[outcome] })),
        ),
    ),
    parked_events: figure(
      'Events that could not be applied and wait for an operator',
      () => known() && parkedIn(partitions()),
    ),
    rebuild_lag_events: figure(
      'Records in the log that read models being built do not have yet',
      () => known()?.rebuildEvents,
    ),
    undecodable_batches: figure(
      'Partitions that this process cannot read on, since a batch of records cannot be decoded',
      () => log.undecodable.length,
    ),
    read_models_incomplete_total: counter(
      'Generations of read models that this process found to lack something that was put into them',
      () => [{ value: shards.reduce((sum, { incomplete }) => sum + incomplete.count, 0) }],
    ),
    warnings: gauge('What an operator should see to before it does harm; no line where there is nothing', () => [
      ...countByCode('event_log', log.warnings),
      ...countByCode('read_models', ofReadModels()),
      ...countByCode('log_output', output.warnings),
      ...countByCode('settings', settingFiles.warnings),
      ...countByCode('publishing', publishing?.states.flatMap(({ warnings }) => warnings) ?? []),
    ]),
    event_log_up: figure('Whether the log answered when last looked at', () => upOf(source.lag, 'logAnswers')),
    read_models_up: figure('Whether the read models answered when last looked at', () =>
      upOf(source.lag, 'readModelsAnswer'),
    ),
  }
}

function countByCode(part: string, warnings: readonly Warning[]): MetricSample[] {
  const byCode = Map.groupBy(warnings, ({ code }) => code)
  return [...byCode].map(([code, same]) => ({ labels: { part, code }, value: same.length }))
}

function upOf(lag: Lag, part: 'logAnswers' | 'readModelsAnswer'): number | undefined {
  const answers = lag.status === 'known' || lag[part]
  return answers === undefined ? undefined : Number(answers)
}

function apiMetrics({ feed, appender, acknowledged, traffic }: MetricsOptions): OwnMetrics {
  return {
    feed_followers: figure('Clients that follow the events of GET /v1/events', () => feed?.followers),
    write_queue_records: figure('Records that wait for the log, or are on their way to it', () => appender?.queued),
    append_batch_records: histogram('Records in each append to the log', () =>
      appender === undefined ? [] : [[appender.appendRecords]],
    ),
    append_duration_seconds: histogram('How long each append to the log took', () =>
      appender === undefined ? [] : [[appender.appendSeconds]],
    ),
    creations_lost_total: counter('Creations that were answered 201 before their outcome was known, and are lost', () =>
      Object.entries(acknowledged?.lost ?? {}).map(([reason, value]) => ({ labels: { reason }, value })),
    ),
    creations_unfollowed_total: counter(
      'Creations that were answered 201 before their outcome was known, and are followed no more',
      () => (acknowledged === undefined ? [] : [{ value: acknowledged.unfollowed }]),
    ),
    http_requests_total: counter('Requests that were answered, by route; 499 where the client left first', () =>
      traffic.counts.flatMap(({ route, method, byStatus }) =>
        [...byStatus].map(([status, value]) => ({ labels: { route, method, status }, value })),
      ),
    ),
    http_request_duration_seconds: histogram('Time from taking a request up to its answer', () =>
      traffic.counts.flatMap(({ route, method, seconds }) => (seconds ? [[seconds, { route, method }]] : [])),
    ),
    http_requests_in_flight: figure(
      'Requests that are not answered yet, followers of the events and this request among them',
      () => traffic.inFlight,
    ),
    http_waiting_bytes: figure(
      'About what the requests take that wait for those before them on their connection, in bytes',
      () => traffic.waitingBytes,
    ),
    http_connections_closed_total: counter('Connections that the service closed on its own, by the reason', () =>
      [...traffic.closed].map(([reason, value]) => ({ labels: { reason }, value })),
    ),
    http_refusals_total: counter('Error answers, by their code', () =>
      [...traffic.errors].map(([code, value]) => ({ labels: { code }, value })),
    ),
  }
}
