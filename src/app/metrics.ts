import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { EventFeed } from '../event-feed/event-feed.ts'
import type { EventLog } from '../event-log/event-log.ts'
import type { GroupCommit } from '../event-log/group-commit.ts'
import type { Metrics } from '../http/health.ts'
import type { Traffic } from '../http/traffic.ts'
import { release } from '../lib/release.ts'
import { type Lag, type PartitionLag, parkedIn } from '../projector/lag-meter.ts'
import type { IncompleteGenerations } from '../read-models/incomplete.ts'
import type { ReadModelStore } from '../read-models/store.ts'
import { addAppendMetrics, addTrafficMetrics } from './request-metrics.ts'

export interface MetricsSources {
  readonly lag: { readonly lag: Lag }
  readonly log: Pick<EventLog, 'undecodable' | 'warnings'>
  /** Undefined in a process that serves no API. */
  readonly feed: Pick<EventFeed, 'followers'> | undefined
  readonly appender: Pick<GroupCommit, 'queued' | 'appendRecords' | 'appendSeconds'> | undefined
  readonly traffic: Pick<Traffic, 'inFlight' | 'refusals' | 'counts'>
  readonly shards: readonly {
    readonly store: Pick<ReadModelStore, 'warnings'>
    readonly incomplete: Pick<IncompleteGenerations, 'count'>
  }[]
}

const outcomes = ['applied', 'duplicate', 'superseded', 'discarded', 'skipped'] as const

/**
 * What operators watch, in the text format of Prometheus. Values are taken when they are asked for, from the last look
 * of the lag meter; what that does not know has no line, so that no stale or made-up figure is drawn.
 */
export function serviceMetrics({ lag: source, log, feed, appender, shards, traffic }: MetricsSources): Metrics {
  const registry = new Registry() // not the global one, which outlives a service closed in this process
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

  const partitions = () => (source.lag.status === 'known' ? source.lag.partitions : undefined)

  function addByPartition(name: string, help: string, figure: (lag: PartitionLag) => number): void {
    new Gauge({
      registers,
      name,
      help,
      labelNames: ['partition'],
      collect() {
        this.reset()
        for (const lag of partitions() ?? []) this.set({ partition: lag.partition }, figure(lag))
      },
    })
  }

  function addFigure(name: string, help: string, figure: () => number | undefined): void {
    new Gauge({
      registers,
      name,
      help,
      collect() {
        const known = figure()
        if (known === undefined) this.remove()
        else this.set(known)
      },
    })
  }

  addByPartition(
    'petstore_projection_lag_events',
    'Records in the log that the read models do not have yet',
    ({ events }) => events,
  )
  addByPartition(
    'petstore_projection_lag_seconds',
    'For how long the read models have been behind the log, as seen by this process',
    ({ seconds }) => seconds,
  )
  new Counter({
    registers,
    labelNames: ['partition', 'outcome'],
    name: 'petstore_projection_records_total',
    help: 'Records handled for the active read models, by what became of them; those parked are a gauge of their own',
    collect() {
      this.reset()
      for (const { partition, checkpoint } of partitions() ?? []) {
        for (const outcome of outcomes) this.inc({ partition, outcome }, checkpoint.counts[outcome])
      }
    },
  })
  addFigure('petstore_parked_events', 'Events that could not be applied and wait for an operator', () => {
    const known = partitions()
    return known && parkedIn(known)
  })
  addFigure('petstore_rebuild_lag_events', 'Records in the log that read models being built do not have yet', () => {
    return source.lag.status === 'known' ? source.lag.rebuildEvents : undefined
  })
  addFigure('petstore_feed_followers', 'Clients that follow the events of GET /v1/events', () => feed?.followers)
  addFigure(
    'petstore_undecodable_batches',
    'Partitions that this process cannot read on, since a batch of records cannot be decoded',
    () => log.undecodable.length,
  )
  new Counter({
    registers,
    name: 'petstore_read_models_incomplete_total',
    help: 'Generations of read models that this process found to lack something that was put into them',
    collect() {
      this.reset()
      for (const { incomplete } of shards) this.inc(incomplete.count)
    },
  })
  new Gauge({
    registers,
    labelNames: ['part', 'code'],
    name: 'petstore_warnings',
    help: 'What an operator should see to before it does harm; no line where there is nothing',
    collect() {
      this.reset()
      for (const { code } of log.warnings) this.inc({ part: 'event_log', code })
      for (const { store } of shards) for (const { code } of store.warnings) this.inc({ part: 'read_models', code })
    },
  })
  addFigure('petstore_event_log_up', 'Whether the log answered when last looked at', () => {
    const { lag } = source
    return upOf(lag.status === 'known' || lag.logAnswers)
  })
  addFigure('petstore_read_models_up', 'Whether the read models answered when last looked at', () => {
    const { lag } = source
    return upOf(lag.status === 'known' || lag.readModelsAnswer)
  })
  addFigure(
    'petstore_write_queue_records',
    'Records that wait for the log, or are on their way to it',
    () => appender?.queued,
  )
  addAppendMetrics(registry, appender)
  addTrafficMetrics(registry, traffic)
  const build = { version: release, node: process.versions.node }
  new Gauge({
    registers,
    name: 'petstore_build_info',
    help: 'Always 1: the release of this process, and that of Node',
    labelNames: Object.keys(build),
  }).set(build, 1)
  return { contentType: registry.contentType, text: () => registry.metrics() }
}

function upOf(answers: boolean | undefined): number | undefined {
  return answers === undefined ? undefined : Number(answers)
}
