import { isDeepStrictEqual } from 'node:util'
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

/** Whether the state comes back as it was written, whatever classes its objects are of. */
export function comesBack<State>(codec: StateCodec<State>, state: State): boolean {
  const read = codec.read({ document: undefined, hidden: codec.hidden(state, undefined) })
  return isDeepStrictEqual(plain(read), plain(state))
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
