import { inspect, isDeepStrictEqual } from 'node:util'
import type { Stream } from '../door/stream.ts'
import { exactJson, parseExactJson } from '../lib/values/exact-json.ts'

/** How the state of a stream is stored: behind the document that shows the stream, which has a part of it or nothing. */
export interface StateCodec<State> {
  /** What has to be stored besides the document: text without NUL. */
  hidden(state: State, document: string | undefined): string
  read(stored: { readonly document: string | undefined; readonly hidden: string }): State
}

/** Comes before a text that does not begin with the document. */
const wholeMark = '\u0001'

export function stateCodec<State>({
  initial,
  state = { write: exactJson, read: (text) => parseExactJson(text) as State },
}: Pick<Stream<State, never, never>, 'initial' | 'state'>): StateCodec<State> {
  return {
    hidden(value, document) {
      if (document === undefined && value === initial) return ''
      const text = state.write(value, document)
      const rest = document !== undefined && text.startsWith(document) ? text.slice(document.length) : undefined
      return rest === undefined || rest.startsWith(wholeMark) ? wholeMark + text : rest
    },
    read({ document, hidden }) {
      if (hidden.startsWith(wholeMark)) return state.read(hidden.slice(wholeMark.length))
      return document === undefined ? initial : state.read(document + hidden)
    },
  }
}

/** What comes back otherwise than it was written, whatever classes its objects are of; undefined if nothing does. */
export function changedWhenRead<State>(codec: StateCodec<State>, state: State): string | undefined {
  const read = codec.read({ document: undefined, hidden: codec.hidden(state, undefined) })
  return differenceOf(plain(state), plain(read), 'state')
}

/** The first member that is another one, by its path. */
function differenceOf(written: unknown, read: unknown, path: string): string | undefined {
  if (isDeepStrictEqual(written, read)) return undefined
  if (isObject(written) && isObject(read) && Array.isArray(written) === Array.isArray(read))
    for (const name of new Set([...Object.keys(written), ...Object.keys(read)])) {
      const at = `${path}.${name}`
      if (!(name in read)) return `${at} is ${nameOf(written[name])}, and missing then`
      const difference = differenceOf(written[name], read[name], at)
      if (difference !== undefined) return difference
    }
  return `${path} is ${nameOf(written)}, and ${nameOf(read)} then`
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && (Array.isArray(value) || isOfMembers(value))
}

/** With its class, which some are printed without. */
function nameOf(value: unknown): string {
  const ofClass = value instanceof Date ? 'Date ' : ''
  return ofClass + inspect(value, { breakLength: Number.POSITIVE_INFINITY, maxStringLength: 100 })
}

/** Whatever classes its objects are of. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null || !isOfMembers(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}

/** What has its contents elsewhere would look empty. */
function isOfMembers(value: object): boolean {
  return Object.prototype.toString.call(value) === '[object Object]'
}
