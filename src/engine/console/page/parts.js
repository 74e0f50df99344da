import htm from 'htm'
import { h as create } from 'preact'
import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks'
import { textOf } from './json.js'
import { Refused } from './refused.js'

/** @import { Child, H, Html } from './types.ts' */

/** @type {H} */
export const h = create
/** @type {Html} */
export const html = htm.bind(create)

const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/**
 * Text that others wrote: what cannot be seen, or turns the direction of writing, is shown by its number.
 * @param {{ of: unknown, lines?: boolean }} props
 */
export function Text({ of, lines = false }) {
  const pieces = textOf(of).split(/([\p{Cc}\p{Cf}\p{Zl}\p{Zp}])/u)
  const shown = pieces.map((piece) => {
    if (!unseen.test(piece) || (lines && piece === '\n')) return piece
    const number = (piece.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    return html`<span class="unseen">U+${number}</span>`
  })
  return html`<bdi>${shown}</bdi>`
}

/**
 * JSON, or whatever else was found, on lines of its own.
 * @param {{ of: unknown, label: string }} props
 */
export function Code({ of, label }) {
  return html`<pre tabindex="0" aria-label=${label}>${h(Text, { of, lines: true })}</pre>`
}

/**
 * With `keys` a row stays the same element, so that what is looked at stays where it is while others come and go.
 * @param {{ label: string, titles: readonly string[], rows: readonly (readonly Child[])[], keys?: string[], empty: string }} props
 */
export function Table({ label, titles, rows, keys = [], empty }) {
  if (rows.length === 0) return html`<p class="quiet">${empty}</p>`
  return html`<div class="scrolled" tabindex="0" role="region" aria-label=${label}>
    <table>
      <thead><tr>${titles.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
      <tbody>${rows.map((cells, i) => html`<tr key=${keys[i]}>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`
}

/** @param {{ of: unknown }} props */
export function Failure({ of }) {
  if (of === undefined) return null
  const code = of instanceof Refused && of.code ? html` <code>${of.code}</code>` : null
  return html`<p class="failure" role="alert">${of instanceof Error ? of.message : textOf(of)}${code}</p>`
}

/**
 * Where a part cannot be shown, it says so, and all around it goes on.
 * @param {{ children?: Child }} props
 */
export function Guarded({ children }) {
  const [failure] = useErrorBoundary()
  if (failure === undefined) return children
  return h(Failure, { of: new Error(`This cannot be shown: ${textOf(failure?.message)}`) })
}

/**
 * A window over the page. Escape closes it.
 * @param {{ title: string, onClose: () => void, children?: Child }} props
 */
export function Dialog({ title, onClose, children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null))
  useEffect(() => element.current?.showModal(), [])
  return html`<dialog ref=${element} aria-label=${title} onClose=${onClose}>
    <h2>${title}</h2>
    ${children}
    <button type="button" onClick=${() => element.current?.close()}>Close</button>
  </dialog>`
}

/**
 * What asking gives; asked again for other inputs, every `everyMs`, and until the limit of the key lets it be sent.
 * Undefined before the first answer.
 * @template Value
 * @param {() => Promise<Value>} work
 * @param {readonly unknown[]} inputs
 * @param {number} [everyMs]
 */
export function useAnswer(work, inputs, everyMs) {
  const [state, setState] = useState(/** @type {{ value?: Value, failure?: unknown }} */ ({}))
  useEffect(() => {
    let isOver = false
    let timer = 0
    async function goOn() {
      let againMs = everyMs
      try {
        const value = await work()
        if (!isOver) setState({ value })
      } catch (failure) {
        if (failure instanceof Refused && failure.status === 429) againMs ??= 1000
        if (!isOver) setState((before) => ({ ...before, failure }))
      }
      if (!isOver && againMs !== undefined) timer = setTimeout(goOn, againMs)
    }
    goOn()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, inputs)
  return state
}

/**
 * What went wrong last, whatever it is.
 * @returns {[unknown, (failure: unknown) => void]}
 */
export function useFailure() {
  return useState()
}

// Made once: to make one takes longer than all else that a row needs.
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' })
const calendar = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })
const withDecimal = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/** @param {number} at */
export function time(at) {
  return clock.format(new Date(at))
}

/**
 * With its day where that is not today. As found where it is no time: others may have written anything.
 * @param {unknown} at
 */
export function moment(at) {
  const date = new Date(typeof at === 'string' ? at : Number.NaN)
  if (Number.isNaN(date.getTime())) return textOf(at)
  const isToday = date.toDateString() === new Date().toDateString()
  return (isToday ? clock : calendar).format(date)
}

/**
 * In whole units, as `3 min 5 s`.
 * @param {number} ms
 */
export function duration(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const parts = Object.entries({
    d: Math.floor(seconds / 86_400),
    h: Math.floor(seconds / 3600) % 24,
    min: Math.floor(seconds / 60) % 60,
    s: seconds % 60,
  })
  const first = parts.findIndex(([, count]) => count > 0)
  return first < 0
    ? '0 s'
    : parts
        .slice(first, first + 2)
        .map(([unit, count]) => `${count} ${unit}`)
        .join(' ')
}

/**
 * How many of something there are.
 * @param {{ of: number | undefined, one: string }} props
 */
export function Count({ of, one }) {
  return html`<b>${figure(of)}</b> ${several(of, one)}`
}

/** @param {number | undefined} count @param {string} one */
export function several(count, one) {
  return count === 1 ? one : `${one}s`
}

/**
 * For people: with separators, and a decimal where it is small.
 * @param {number | null | undefined} value
 */
export function figure(value) {
  if (value === undefined || value === null) return '?'
  return (value < 10 ? withDecimal : whole).format(value)
}
