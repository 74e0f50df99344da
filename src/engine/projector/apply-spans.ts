import { readSpanContext, type Tracing } from '../lib/operating/tracing.ts'
import type { Offset } from '../log/event-log.ts'
import type { ReadBatch } from '../rule/classify.ts'

/** Nobody follows a trace that is older, and a replay of a long log would make a span of each of its events. */
const traceAgeMaxMs = 3_600_000

/** Adds a span to the trace of each recent event in a batch that was applied just now. */
export function traceApplied(
  tracing: Tracing,
  { partition, events }: Pick<ReadBatch, 'partition' | 'events'>,
  withoutEffect: readonly Offset[],
  since: Date,
): void {
  for (const event of events) {
    if (event === undefined || event.discards !== undefined) continue
    const parent = readSpanContext(event.traceparent)
    const isRecent = since.getTime() - Date.parse(event.time) < traceAgeMaxMs
    if (parent === undefined || !isRecent) continue
    const { offset } = event
    const attributes = {
      'messaging.kafka.offset': offset,
      [`${tracing.service}.took_effect`]: !withoutEffect.includes(offset),
    }
    tracing.startOfEvent({ operation: 'apply', parent, partition, attributes, startTime: since }).end()
  }
}
