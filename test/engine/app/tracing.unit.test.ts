import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { EventWriter } from '../../../src/engine/commands/event-writer.ts'
import { IdAllocator } from '../../../src/engine/commands/id-allocator.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { Tracing } from '../../../src/engine/lib/operating/tracing.ts'
import { traceApplied } from '../../../src/engine/projector/apply-spans.ts'
import { readEvent } from '../../../src/engine/rule/stream-event.ts'
import { StreamState } from '../../../src/engine/rule/stream-state.ts'
import { captureLog } from '../../lib/captured-log.ts'
import { type Answer, HttpClient } from '../../lib/http-client.ts'
import { startHere } from '../../lib/start-here.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'
import { shared, whenDone } from '../../lib/when-done.ts'
import { unseenBlocks } from '../commands/unseen-blocks.ts'
import { foreignRecord } from '../projector/records.ts'
import { theatre } from '../theatre/theatre.ts'

const exporter = new InMemorySpanExporter()
const started = shared(async () => {
  expect(Tracing.find('theatre', undefined)).toBeUndefined() // no SDK yet
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  whenDone(() => trace.disable())
  const DATA_DIR = temporaryFolder()
  return { DATA_DIR, client: new HttpClient(await startHere(theatre, { DATA_DIR })) }
})
beforeEach(() => exporter.reset())

const clientTraceId = '0af7651916cd43dd8448eb211c80319c'
const clientSpanId = 'b7ad6b7169203331'
const traceparent = `00-${clientTraceId}-${clientSpanId}-01`

/** The spans that have ended, once there is one of each name. */
async function spansNamed(...names: string[]): Promise<ReadableSpan[]> {
  return await vi.waitFor(
    () => {
      const spans = exporter.getFinishedSpans()
      expect(spans.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
      return names.map((name) => spans.find((span) => span.name === name) as ReadableSpan)
    },
    { timeout: 30_000 },
  )
}

const ofWrite = ['POST /v1/seats', 'append event-log', 'apply event-log']
const addSeat = (headers = {}): Promise<Answer> =>
  started().client.send('POST', '/v1/seats', { name: 'A12', rowId: 7 }, headers)
const idsOf = (spans: ReadableSpan[]) => spans.map((span) => span.spanContext().spanId)
const tracesOf = (spans: ReadableSpan[]) => new Set(spans.map((span) => span.spanContext().traceId))

function lastTraceparent(): unknown {
  using log = new DatabaseSync(join(started().DATA_DIR, 'event-log.db'), { readOnly: true })
  const row = log.prepare('SELECT CAST(value AS TEXT) AS value FROM records ORDER BY rowid DESC LIMIT 1').get()
  return JSON.parse(String(row?.value)).traceparent
}

describe('with an SDK', () => {
  it('one trace goes from the client over request, append and event to the projection, by the semantic conventions', async () => {
    expect((await addSeat({ traceparent })).status).toBe(201)
    const spans = await spansNamed(...ofWrite)
    const [request, append, apply] = idsOf(spans)
    expect(tracesOf(spans)).toEqual(new Set([clientTraceId]))
    expect(spans.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([clientSpanId, request, append])
    expect(spans.map(({ kind }) => kind)).toEqual([SpanKind.SERVER, SpanKind.PRODUCER, SpanKind.CONSUMER])
    expect(lastTraceparent()).toBe(`00-${clientTraceId}-${append}-01`)
    expect(apply).not.toBe(append)
    expect(spans[0]?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/v1/seats',
      'http.response.status_code': 201,
      'url.scheme': 'http',
      'url.path': '/v1/seats',
    })
    const log = { 'messaging.system': 'sqlite', 'messaging.destination.name': 'event-log' }
    expect(spans[1]?.attributes).toMatchObject({ ...log, 'messaging.operation.type': 'send' })
    expect(spans[2]?.attributes).toMatchObject({
      ...log,
      'messaging.operation.type': 'process',
      'theatre.took_effect': true,
    })
  })

  it.each([
    ['no traceparent', {}],
    ['a malformed one', { traceparent: `00-${clientTraceId}-${clientSpanId}-01-x` }],
    ['one of zeros', { traceparent: `00-${'0'.repeat(32)}-${clientSpanId}-01` }],
    ['two of them', { traceparent: `${traceparent}, ${traceparent}` }],
  ])('a request with %s begins a new trace', async (_, headers) => {
    expect((await addSeat(headers)).status).toBe(201)
    const spans = await spansNamed(...ofWrite)
    expect(tracesOf(spans).size).toBe(1)
    expect(tracesOf(spans)).not.toContain(clientTraceId)
    expect(spans[0]?.parentSpanContext).toBeUndefined()
  })

  it('a span is named after its route, and has the status of a refusal', async () => {
    expect((await started().client.request('/v1/seats/4711?x=1')).status).toBe(400)
    const [span] = await spansNamed('GET /v1/seats/:seatId')
    expect(span?.attributes).toMatchObject({
      ...{ 'http.route': '/v1/seats/:seatId', 'url.path': '/v1/seats/4711', 'url.query': 'x=1' },
      'http.response.status_code': 400,
    })
    expect(span?.status.code).toBe(SpanStatusCode.UNSET) // the fault is the client's
  })

  it('a request without a valid API key has a span; probes have none', async () => {
    await started().client.request('/livez')
    expect((await started().client.request('/v1/seats', { headers: { authorization: 'Bearer x' } })).status).toBe(401)
    const [span] = await spansNamed('GET /v1/seats')
    expect(span?.attributes['http.response.status_code']).toBe(401)
  })

  it('the trace of a client that does not sample is not recorded, and goes on in the event', async () => {
    expect((await addSeat({ traceparent: traceparent.replace(/01$/, '00') })).status).toBe(201)
    expect(lastTraceparent()).toMatch(new RegExp(`^00-${clientTraceId}-[\\da-f]{16}-00$`))
    await addSeat()
    await spansNamed(...ofWrite)
  })
})

it('a failed append shows the error in its span', async () => {
  const log = { partitions: 1, partitionFor: () => 0, reserveIdBlock: async () => 1 }
  const unavailable = new ServiceError('event_log_unavailable', 'The event log is away.')
  const writer = new EventWriter({
    ...{ log, ids: new IdAllocator(log, unseenBlocks(log)), tracing: Tracing.find('theatre', 'a topic') },
    appender: { gathering: 0, append: () => Promise.reject(unavailable) },
    ...{ definition: theatre, kind: theatre },
  })
  const request = { stream: '1', traceparent }
  const seat = { id: 1, name: 'A12', rowId: 7, status: 'available' } as const
  const recorded = { events: [{ type: 'SeatAdded', seat } as const], version: 1, time: new Date(0).toISOString() }
  const before = new StreamState(theatre, '1', { collection: 'seats', id: 1 }, undefined)
  await expect(
    writer.append(request, { stream: '1', partition: 0, id: 0, leaves: undefined }, recorded, before, 0),
  ).rejects.toBe(unavailable)
  const [span] = await spansNamed('append a topic')
  expect(span?.attributes).toMatchObject({ 'messaging.system': 'kafka', 'error.type': 'event_log_unavailable' })
  expect(span?.status.code).toBe(SpanStatusCode.ERROR)
})

describe('the end of the process', () => {
  const withFlush = (forceFlush: () => Promise<void>) => {
    const provider = new BasicTracerProvider()
    provider.forceFlush = forceFlush
    return vi.spyOn(trace, 'getTracerProvider').mockReturnValue(provider)
  }
  async function flush() {
    const { logger, lines } = captureLog()
    await Tracing.find('theatre', undefined)?.flush(logger)
    return lines
  }

  it.each([
    ['is unavailable', () => Promise.reject(new Error('connect ECONNREFUSED'))],
    ['does not answer', () => new Promise<void>(() => {})],
  ])('is not held up by a collector that %s', async (_, forceFlush) => {
    using _spy = withFlush(forceFlush)
    expect(await flush()).toMatchObject([{ msg: 'the last spans were not exported' }])
  })

  it('is silent about spans that were exported', async () => {
    using _spy = withFlush(async () => {})
    expect(await flush()).toEqual([])
  })
})

describe('an event that is applied', () => {
  const now = new Date('2026-11-20T12:00:00Z')
  function apply(more: object): void {
    const event = {
      ...{ id: '1', type: 'theatre.SeatAdded.v1', source: '/x', subject: '1', streamversion: 1 },
      ...{ time: '2026-11-20T11:59:00Z', data: { id: 1, name: 'A12', rowId: 7, status: 'available' }, ...more },
    }
    const record = { offset: 5, ...foreignRecord(event) }
    const read = readEvent({ definition: theatre, log: { partitionFor: () => 0 } }, 0, record)
    expect(read).toBeDefined()
    const tracing = Tracing.find('theatre', undefined) as Tracing
    traceApplied(tracing, { partition: 0, events: [undefined, read] }, [5], now)
  }

  it('has a span in the trace that it names, also if it had no effect', async () => {
    apply({ traceparent })
    const [span] = await spansNamed('apply event-log')
    expect(span?.parentSpanContext).toMatchObject({ traceId: clientTraceId, spanId: clientSpanId })
    expect(span?.attributes).toMatchObject({ 'messaging.kafka.offset': 5, 'theatre.took_effect': false })
  })

  it.each([
    ['names no trace', {}],
    ['has a malformed traceparent', { traceparent: 'ff-1-2-3' }],
    ['has a traceparent that is no text', { traceparent: 1 }],
    ['is replayed', { traceparent, time: '2026-11-20T10:00:00Z' }],
    ['has no readable time', { traceparent, time: 'noon' }],
  ])('has none if it %s', (_, more) => {
    apply(more)
    expect(exporter.getFinishedSpans()).toEqual([])
  })
})
