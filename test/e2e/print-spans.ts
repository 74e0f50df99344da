// For `node --import`: an SDK as an operator loads one, which prints each span that has ended as a line of JSON.
import { trace } from '@opentelemetry/api'
import { BasicTracerProvider, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

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
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
