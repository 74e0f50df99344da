// For `node --import`: an SDK as an operator loads one. It prints spans as lines of JSON, and holds them until it is told.
import { trace } from '@opentelemetry/api'
import { BasicTracerProvider, BatchSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base'

export interface PrintedSpan {
  readonly span: string
  readonly traceId: string
  readonly id: string
  readonly parentId?: string
  readonly topic?: string
}

function printed(span: ReadableSpan): PrintedSpan {
  const { traceId, spanId: id } = span.spanContext()
  const parentId = span.parentSpanContext?.spanId
  const topic = span.attributes['messaging.destination.name']
  return { span: span.name, traceId, id, ...(parentId && { parentId }), ...(topic && { topic: String(topic) }) }
}

const exporter = {
  export(spans: readonly ReadableSpan[], done: (result: { code: number }) => void): void {
    for (const span of spans) process.stdout.write(`${JSON.stringify(printed(span))}\n`)
    done({ code: 0 })
  },
  shutdown: async () => {},
}
const processor = new BatchSpanProcessor(exporter, { scheduledDelayMillis: 3_600_000 })
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [processor] }))
