import {
  type Attributes,
  context,
  isSpanContextValid,
  ProxyTracerProvider,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import type { Logger } from 'pino'
import { ServiceError } from '../errors/errors.ts'
import { withTimeout } from '../with-timeout.ts'
import { program } from './release.ts'

/** A closing process does not wait any longer for a collector that is unavailable. */
const flushMs = 1000
const operations = {
  append: { kind: SpanKind.PRODUCER, type: 'send' },
  apply: { kind: SpanKind.CONSUMER, type: 'process' },
}

interface EventSpan {
  readonly operation: 'append' | 'apply'
  readonly parent: SpanContext | undefined
  readonly partition: number
  readonly attributes: Attributes
  /** Now, if not given. */
  readonly startTime?: Date | undefined
}

/** Makes spans with the OpenTelemetry SDK of this process (decision 0041). */
export class Tracing {
  readonly #provider: TracerProvider
  readonly #tracer: Tracer
  readonly #log: Attributes
  /** Begins the names of attributes that no convention has. */
  readonly service: string

  private constructor(provider: TracerProvider, service: string, log: Attributes) {
    this.#provider = provider
    this.service = service
    this.#tracer = provider.getTracer(program)
    this.#log = log
  }

  /** Undefined unless an SDK was loaded before. `topic` is undefined in embedded mode. */
  static find(service: string, topic: string | undefined): Tracing | undefined {
    const provider = trace.getTracerProvider()
    const hasSdk = !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer('') !== undefined
    if (!hasSdk) return undefined
    return new Tracing(provider, service, {
      'messaging.system': topic === undefined ? 'sqlite' : 'kafka',
      'messaging.destination.name': topic ?? 'event-log',
    })
  }

  /** Without a parent, the span begins a new trace, unless another instrumentation has begun one. */
  start(name: string, parent: SpanContext | undefined, options: SpanOptions): Span {
    const active = context.active()
    return this.#tracer.startSpan(name, options, parent === undefined ? active : trace.setSpanContext(active, parent))
  }

  /**
   * Exports the spans that the SDK still holds, which does not know that the process is about to end. Spans that cannot be
   * exported in time are lost. `forceFlush` is not part of the API, but of the SDKs for Node.
   */
  async flush(logger: Logger): Promise<void> {
    const proxy = this.#provider as TracerProvider & { getDelegate?(): TracerProvider }
    const sdk = (proxy.getDelegate?.() ?? proxy) as TracerProvider & { forceFlush?(): Promise<void> }
    try {
      if (sdk.forceFlush !== undefined) await withTimeout(flushMs, sdk.forceFlush())
    } catch (error) {
      logger.warn({ err: error }, 'the last spans were not exported')
    }
  }

  /** A span about one event, by the semantic conventions for messaging. */
  startOfEvent({ operation, parent, partition, attributes, startTime }: EventSpan): Span {
    const { kind, type } = operations[operation]
    return this.start(`${operation} ${this.#log['messaging.destination.name']}`, parent, {
      kind,
      attributes: {
        ...this.#log,
        'messaging.operation.name': operation,
        'messaging.operation.type': type,
        'messaging.destination.partition.id': String(partition),
        ...attributes,
      },
      ...(startTime && { startTime }),
    })
  }
}

/** The span that a traceparent of version 00 names; undefined if it is malformed. */
export function readSpanContext(traceparent: string | undefined): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags] =
    /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/.exec(traceparent ?? '') ?? []
  const traceFlags = Number.parseInt(flags ?? '', 16) & TraceFlags.SAMPLED
  const span = { traceId, spanId, traceFlags, isRemote: true }
  return isSpanContextValid(span) ? span : undefined
}

/** W3C Trace Context section 3.2. */
export function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** Ends the span with the outcome of the promise. */
export async function endWith<Result>(span: Span, promise: Promise<Result>): Promise<Result> {
  try {
    return await promise
  } catch (error) {
    const { code, message } = error instanceof ServiceError ? error : { code: '_OTHER', message: String(error) }
    span.setAttribute('error.type', code).setStatus({ code: SpanStatusCode.ERROR, message })
    throw error
  } finally {
    span.end()
  }
}
