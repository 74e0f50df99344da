import { parseExactJson } from '../lib/exact-json.ts'

/** The envelope of CloudEvents 1.0, structured JSON mode, as far as this service reads it. */
export interface CloudEvent {
  readonly id: string
  readonly type: string
  readonly source: string
  readonly subject?: string
  readonly data?: unknown
  /** Extensions, as whatever was found under their names. */
  readonly idempotencykey?: unknown
  readonly requestfingerprint?: unknown
}

/** The media type of a structured CloudEvent in JSON (CloudEvents JSON format 1.0, section 3). */
export const cloudEventMediaType = 'application/cloudevents+json'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Reads JSON text in a form that it knows, quicker than `JSON.parse`. Undefined for any other, which may be as good. */
export type QuickReader = (text: string) => unknown

/** The envelope in a record value, or undefined where there is no readable one. What `data` means is not looked at. */
export function readCloudEvent(value: Uint8Array | null, readData?: QuickReader): CloudEvent | undefined {
  if (value === null) return undefined
  try {
    const text = utf8.decode(value)
    return readOwnForm(text, readData) ?? readAnyForm(text)
  } catch {
    return undefined // not UTF-8 or not JSON: both mean that no envelope is there
  }
}

/** An event as this service writes it, up to the data: quicker to read so than member by member (see docs/performance.md). */
const ownForm = new RegExp(
  String.raw`^\{"specversion":"1\.0","id":"([\w-]+)","type":"([\w.]+)","source":"([\w/]+)","subject":"([\w-]+)",` +
    String.raw`"time":"[\w:.-]+","datacontenttype":"application/json",(?:"traceparent":"[\w-]+",)?` +
    String.raw`(?:"idempotencykey":"([\w-]+)","requestfingerprint":"([\w-]+)",)?"data":(\{.*\})\}$`,
)

/** Undefined for any other form: that says nothing against the event, which can be written in many ways. */
function readOwnForm(text: string, readData?: QuickReader): CloudEvent | undefined {
  const match = ownForm.exec(text)
  if (match === null) return undefined
  const [, id = '', type = '', source = '', subject = '', idempotencykey, requestfingerprint, json = ''] = match
  try {
    const data = readData?.(json) ?? parseExactJson(json)
    return { id, type, source, subject, idempotencykey, requestfingerprint, data }
  } catch {
    return undefined // the data may end earlier, and other members follow
  }
}

function readAnyForm(text: string): CloudEvent | undefined {
  // No number counts but those in the data, which are in an object within the first one.
  const event = parseExactJson(text, text.indexOf('{', 1))
  return isCloudEvent(event) ? event : undefined
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
