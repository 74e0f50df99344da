import { html } from './parts.js'

/** @import { Kind } from '../answers.ts' */
/** @import { Chosen } from './types.ts' */

/**
 * The word for what a stream is of, and its id.
 * @param {readonly Kind[]} kinds
 * @param {string} stream
 */
export function titleOf(kinds, stream) {
  const kind = kinds.find(({ prefix }) => prefix !== '' && stream.startsWith(prefix)) ?? kinds[0]
  return `${kind?.noun} ${stream.slice(kind?.prefix.length)}`
}

/**
 * The word for any of them.
 * @param {readonly Kind[]} kinds
 */
export function anyOf(kinds) {
  return kinds.map(({ noun }) => noun).join(' or ')
}

/**
 * Whether a text may be the name of a stream.
 * @param {readonly Kind[]} kinds
 * @param {string} text
 */
export function isStream(kinds, text) {
  return new RegExp(`^(${patternOf(kinds)})$`).test(text)
}

/** @param {readonly Kind[]} kinds */
function patternOf(kinds) {
  return kinds.map(({ prefix }) => `${prefix}[0-9]+`).join('|')
}

/**
 * For the name of a stream: an id, behind what tells the kind where there are several.
 * @param {{ kinds: readonly Kind[], onChange?: (changed: Chosen) => void }} props
 */
export function StreamInput({ kinds, onChange }) {
  const isId = kinds.length === 1
  const hint = isId ? '' : kinds.map(({ prefix }) => `${prefix}7`).join(', ')
  return html`<input name="stream" size="14" pattern=${patternOf(kinds)} placeholder=${hint} inputmode=${isId ? 'numeric' : 'text'} onChange=${onChange} />`
}
