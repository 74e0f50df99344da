import type { PublishedPartition } from '../publishing/publisher.ts'
import { counter, gauge, type OwnMetrics } from './metric-samples.ts'
import type { Publishing } from './publishing.ts'

/** How far the publishers of this process are, which are undefined where it has none. */
export function publishingMetrics(publishing: Pick<Publishing, 'states'> | undefined): OwnMetrics {
  const states = () => publishing?.states ?? []
  const byPartition = (figureOf: (partition: PublishedPartition) => number) => () =>
    states().flatMap(({ publisher, lanes }) =>
      lanes.flatMap(({ partitions }) =>
        partitions.map((each) => ({ labels: { publisher, partition: each.partition }, value: figureOf(each) })),
      ),
    )
  return {
    published_lag_events: gauge(
      'Records in the log that this process, which has their lane, has not published yet',
      byPartition(({ events }) => events),
    ),
    published_lag_seconds: gauge(
      'For how long this process has not published all of its lane',
      byPartition(({ seconds }) => seconds),
    ),
    published_filling: gauge(
      'Whether the read models are being copied into the topics of a partition; its lag stands still meanwhile',
      byPartition(({ filling }) => Number(filling !== undefined)),
    ),
    documents_left_out_total: counter(
      'Documents that this process left out of what it told, since they are too large',
      () => states().flatMap(({ publisher, leftOut }) => (publisher === 'documents' ? [{ value: leftOut }] : [])),
    ),
    published_waiting_streams: gauge(
      'Streams whose further events are published once their parked event is settled',
      byPartition(({ waiting }) => waiting),
    ),
    published_lanes: gauge('Lanes that this process has, by whether something is published there', () =>
      states().flatMap(({ publisher, lanes }) =>
        (['publishing', 'still'] as const).map((state) => ({
          labels: { publisher, state },
          value: lanes.filter(({ failure }) => (failure === undefined) === (state === 'publishing')).length,
        })),
      ),
    ),
  }
}
