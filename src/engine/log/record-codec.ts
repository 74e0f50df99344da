import { parseExactJson } from '../lib/values/exact-json.ts'
import type { NewRecord } from './event-log.ts'

/** CloudEvents 1.0 in structured JSON mode: the part that this service reads (docs/events.md). */
export interface CloudEvent {
  readonly id: string
  readonly type: string
  readonly source: string
  readonly subject?: string | undefined
  /** As found; should be RFC 3339. */
  readonly time?: string | undefined
  readonly data?: unknown
  /** What the `QuickReader` made of the data, in place of it. */
  readonly quick?: unknown
  /** Extension attributes as found, by name. */
  readonly traceparent?: unknown
  readonly streamversion?: unknown
  readonly idempotencykey?: unknown
  readonly requestfingerprint?: unknown
}

/** An event to write. Only the subject may need escapes in JSON. */
export interface NewCloudEvent {
  readonly id: string
  readonly type: string
  readonly source: string
  /** Also the record key, so that all events of a stream share a partition. */
  readonly subject: string
  readonly time: string
  readonly traceparent?: string | undefined
  readonly idempotency?: { readonly key: string; readonly fingerprint: string } | undefined
  readonly streamversion?: number | undefined
  /** JSON text of an object. */
  readonly data: string
}

/** CloudEvents JSON format 1.0, section 3. */
export const cloudEventHeaders = { 'content-type': 'application/cloudevents+json' }

export function writeCloudEvent(event: NewCloudEvent): NewRecord {
  const { id, type, source, subject, time, traceparent, idempotency, streamversion, data } = event
  const trace = traceparent === undefined ? '' : `,"traceparent":"${traceparent}"`
  const { key, fingerprint } = idempotency ?? {}
  const keys = key === undefined ? '' : `,"idempotencykey":"${key}","requestfingerprint":"${fingerprint}"`
  const version = streamversion === undefined ? '' : `,"streamversion":${streamversion}`
  return {
    key: subject,
    value:
      `{"specversion":"1.0","id":"${id}","type":"${type}","source":"${source}","subject":${JSON.stringify(subject)},"time":"${time}",` +
      `"datacontenttype":"application/json"${trace}${keys}${version},"data":${data}}`,
    headers: cloudEventHeaders,
  }
}

/**
 * Reads the data of a type, as JSON text of a known form, faster than `JSON.parse` and a schema. Undefined for any other
 * text, which may be just as valid.
 */
export type QuickReader = (type: string, json: string) => unknown

/** Bytes of the longest event. A longer value, of another program, costs no time to read and is skipped. */
export const recordValueMax = 16 * 1024

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The text of an event that was read. */
export function eventText(value: Uint8Array | null): string {
  return utf8.decode(value ?? undefined)
}

/** The event in a record value, or undefined if there is no readable one. `data` is not interpreted. */
export function readCloudEvent(value: Uint8Array | null, quickly?: QuickReader): CloudEvent | undefined {
  if (value === null || value.length > recordValueMax) return undefined
  try {
    const text = utf8.decode(value)
    return readOwnForm(text, quickly) ?? readAnyForm(text)
  } catch {
    return undefined // not UTF-8 or not JSON: not an event
  }
}

/** Only for speed: reads an event in the form of `writeCloudEvent` with one regular expression (decision 0010). */
const ownForm = new RegExp(
  String.raw`^\{"specversion":"1\.0","id":"([\w-]+)","type":"([\w.]+)","source":"([\w/]+)","subject":"([\w/-]+)",` +
    String.raw`"time":"([\w:.-]+)","datacontenttype":"application/json",(?:"traceparent":"([\w-]+)",)?` +
    String.raw`(?:"idempotencykey":"([\w-]+)","requestfingerprint":"([\w-]+)",)?` +
    String.raw`(?:"streamversion":([1-9]\d{0,14}),)?"data":(\{.*\})\}$`,
)

/** Undefined for any other form. The event may still be valid, since it can be written in many ways. */
function readOwnForm(text: string, quickly?: QuickReader): CloudEvent | undefined {
  const match = ownForm.exec(text)
  if (match === null) return undefined
  const [
    ,
    id = '',
    type = '',
    source = '',
    subject,
    time,
    traceparent,
    idempotencykey,
    requestfingerprint,
    version,
    json = '',
  ] = match
  try {
    const quick = quickly?.(type, json)
    const data = quick === undefined ? parseExactJson(json) : undefined
    const streamversion = version === undefined ? undefined : Number(version)
    return {
      id,
      type,
      source,
      subject,
      time,
      traceparent,
      idempotencykey,
      requestfingerprint,
      streamversion,
      data,
      quick,
    }
  } catch {
    return undefined // the data may end earlier and be followed by other members
  }
}

function readAnyForm(text: string): CloudEvent | undefined {
  const event = parseExactJson(text)
  if (!isCloudEvent(event)) return undefined
  return { ...event, time: typeof event.time === 'string' ? event.time : undefined, quick: undefined }
}

function isCloudEvent(value: unknown): value is CloudEvent {
  if (typeof value !== 'object' || value === null) return false
  const { specversion, id, type, source, subject } = value as Record<string, unknown>
  return (
    specversion === '1.0' && isName(id) && isName(type) && isName(source) && (subject === undefined || isName(subject))
  )
}

// CloudEvents 1.0 section 3.1: each required attribute is a non-empty string.
function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
