import { describe, expect, it } from 'vitest'
import type { Metrics } from '../../../src/engine/http/routes/health.ts'
import { Distribution } from '../../../src/engine/lib/distribution.ts'
import type { Lag } from '../../../src/engine/projector/lag-meter.ts'
import type { PublisherState } from '../../../src/engine/publishing/publisher.ts'
import { metricsOf } from './metrics-of.ts'

const counts = { applied: 5, duplicate: 1, superseded: 3, parked: 2, discarded: 4, skipped: 1 }
const checkpoint = { next: 16, last: null, counts }
const known: Lag = {
  status: 'known',
  generation: 'first',
  partitions: [
    { partition: 0, events: 3, seconds: 1.5, checkpoint },
    { partition: 1, events: 0, seconds: 0, checkpoint: { ...checkpoint, counts: { ...counts, parked: 4 } } },
  ],
  rebuildEvents: 7,
}

const undecodable = [{ partition: 1, offset: 7, reason: 'unexpected end of file' }]
const warnings = [1, 2].map(() => ({ code: 'too_few_replicas', message: 'Give it 3.' }))
const evicts = { code: 'keys_can_be_evicted', message: 'Set it to noeviction.' }
const shards = [{ store: { warnings: [evicts] }, incomplete: { count: 2 } }]
const withLag = (lag: { readonly lag: Lag }) => metricsOf({ lag, log: { undecodable, warnings }, shards })
const always = [
  'theatre_undecodable_batches 1',
  'theatre_read_models_incomplete_total 2',
  'theatre_warnings{part="event_log",code="too_few_replicas"} 2',
  'theatre_warnings{part="read_models",code="keys_can_be_evicted"} 1',
]

/** The samples about log and read models: comments, requests and what the library says of the process are left out. */
async function samples(metrics: Metrics): Promise<string[]> {
  const text = await metrics.text()
  return text.split('\n').filter((line) => /^theatre_(?!build|http|write|append|creations|feed|log_lines)/.test(line))
}

describe('metrics', () => {
  it('tell the lag, what became of the records, and who answers', async () => {
    expect(await samples(withLag({ lag: known }))).toEqual([
      'theatre_projection_lag_events{partition="0"} 3',
      'theatre_projection_lag_events{partition="1"} 0',
      'theatre_projection_lag_seconds{partition="0"} 1.5',
      'theatre_projection_lag_seconds{partition="1"} 0',
      ...[0, 1].flatMap((partition) =>
        Object.entries({ applied: 5, duplicate: 1, superseded: 3, discarded: 4, skipped: 1 }).map(
          ([outcome, n]) => `theatre_projection_records_total{partition="${partition}",outcome="${outcome}"} ${n}`,
        ),
      ),
      'theatre_parked_events 6',
      'theatre_rebuild_lag_events 7',
      ...always,
      'theatre_event_log_up 1',
      'theatre_read_models_up 1',
    ])
  })

  it('omit unknown figures until they are known again', async () => {
    const source: { lag: Lag } = { lag: { status: 'unknown', reason: 'not looked at yet' } }
    const metrics = withLag(source)
    expect(await samples(metrics)).toEqual(always)
    source.lag = known
    const all = await samples(metrics)
    source.lag = { status: 'unknown', reason: 'away', logAnswers: false, readModelsAnswer: true }
    expect(await samples(metrics)).toEqual([...always, 'theatre_event_log_up 0', 'theatre_read_models_up 1'])
    source.lag = known
    expect(await samples(metrics)).toEqual(all)
  })

  it('go down with a rebuild: they are what the read models hold', async () => {
    const source: { lag: Lag } = { lag: known }
    const metrics = withLag(source)
    await metrics.text()
    const begun = { ...checkpoint, counts: { ...counts, applied: 1, parked: 0 } }
    source.lag = { ...known, partitions: [{ partition: 0, events: 8, seconds: 0, checkpoint: begun }] }
    const now = await samples(metrics)
    expect(now).toContain('theatre_projection_records_total{partition="0",outcome="applied"} 1')
    expect(now).toContain('theatre_parked_events 0')
    expect(now.some((line) => line.includes('partition="1"'))).toBe(false)
  })

  it('tell of the process too, in a registry of their own', async () => {
    const [one, other] = [metricsOf(), metricsOf()]
    expect(await one.text()).toMatch(/^process_cpu_seconds_total \d/m)
    expect(await other.text()).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m)
    expect(one.contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
  })

  it('tell how many follow the events, how many records wait and how appends went', async () => {
    const appender = { queued: 9, appendRecords: new Distribution([1, 10]), appendSeconds: new Distribution([1]) }
    for (const records of [1, 3, 3, 20]) appender.appendRecords.add(records)
    appender.appendSeconds.add(0.5)
    const lines = (await metricsOf({ appender, feed: { followers: 3 } }).text()).split('\n')
    expect(lines.filter((line) => /^theatre_(feed|write|append)/.test(line))).toEqual([
      'theatre_feed_followers 3',
      'theatre_write_queue_records 9',
      'theatre_append_batch_records_bucket{le="1"} 1',
      'theatre_append_batch_records_bucket{le="10"} 3',
      'theatre_append_batch_records_bucket{le="+Inf"} 4',
      'theatre_append_batch_records_sum 27',
      'theatre_append_batch_records_count 4',
      'theatre_append_duration_seconds_bucket{le="1"} 1',
      'theatre_append_duration_seconds_bucket{le="+Inf"} 1',
      'theatre_append_duration_seconds_sum 0.5',
      'theatre_append_duration_seconds_count 1',
    ])
  })

  it('tell how far what is published is, by partition, and how many lanes are told', async () => {
    const behind = { partition: 4, events: 12, seconds: 3.5, waiting: 2, filling: undefined }
    const states = [
      {
        ...{ publisher: 'events', failure: undefined, leftOut: 0 },
        lanes: [
          { lane: 0, failure: undefined, partitions: [] },
          { lane: 1, failure: undefined, partitions: [behind] },
          { lane: 2, failure: 'of another log', partitions: [] },
        ],
        warnings: [{ code: 'publishing_stands_still', message: 'of another log' }],
      },
      {
        ...{ publisher: 'documents', failure: undefined, leftOut: 3 },
        lanes: [{ lane: 0, failure: undefined, partitions: [{ ...behind, filling: { set: 'seats', after: 7 } }] }],
        warnings: [{ code: 'document_left_out', message: 'the last one seats/7' }],
      },
    ]
    const published = async (states: readonly PublisherState[]) =>
      (await metricsOf({ publishing: { states } }).text())
        .split('\n')
        .filter((line) => /^theatre_(published|documents|warn)/.test(line))
    expect(await published(states)).toEqual([
      'theatre_warnings{part="publishing",code="publishing_stands_still"} 1',
      'theatre_warnings{part="publishing",code="document_left_out"} 1',
      'theatre_published_lag_events{publisher="events",partition="4"} 12',
      'theatre_published_lag_events{publisher="documents",partition="4"} 12',
      'theatre_published_lag_seconds{publisher="events",partition="4"} 3.5',
      'theatre_published_lag_seconds{publisher="documents",partition="4"} 3.5',
      'theatre_published_filling{publisher="events",partition="4"} 0',
      'theatre_published_filling{publisher="documents",partition="4"} 1',
      'theatre_documents_left_out_total 3',
      'theatre_published_waiting_streams{publisher="events",partition="4"} 2',
      'theatre_published_waiting_streams{publisher="documents",partition="4"} 2',
      'theatre_published_lanes{publisher="events",state="publishing"} 2',
      'theatre_published_lanes{publisher="events",state="still"} 1',
      'theatre_published_lanes{publisher="documents",state="publishing"} 1',
      'theatre_published_lanes{publisher="documents",state="still"} 0',
    ])
    expect(await published([])).toEqual([])
  })

  it('tell that the file of a setting cannot be read', async () => {
    const settingFiles = { warnings: [{ code: 'setting_unreadable', message: 'it is empty' }] }
    const text = await metricsOf({ settingFiles }).text()
    expect(text.split('\n')).toContain('theatre_warnings{part="settings",code="setting_unreadable"} 1')
  })

  it('tell how many lines of the log are lost, and that they are', async () => {
    const output = { lost: 3, warnings: [{ code: 'log_lines_lost', message: 'no space left' }] }
    const lines = (await metricsOf({ output }).text()).split('\n')
    expect(lines).toContain('theatre_log_lines_lost_total 3')
    expect(lines).toContain('theatre_warnings{part="log_output",code="log_lines_lost"} 1')
  })
})
