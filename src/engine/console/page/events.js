import { useState } from 'preact/hooks'
import { ask } from './api.js'
import { versionOf } from './event-list.js'
import { parseExact, written } from './json.js'
import { anyOf, StreamInput, titleOf } from './kinds.js'
import { Latest } from './latest.js'
import { Code, Failure, figure, h, html, Text, useAnswer } from './parts.js'

/**
 * @import { Kind } from '../answers.ts'
 * @import { ShownEvent, ToldVersion } from '../event-answers.ts'
 * @import { PageProps, Submitted } from './types.ts'
 */

/**
 * The latest events, what one record is, and what each event of a stream did.
 * @param {Pick<PageProps, 'status' | 'path'>} props
 */
export function Events({ status: { service }, path }) {
  const { kinds, types } = service
  const stream = path.join('/')
  return stream === ''
    ? html`${h(Find, { kinds })}${h(Latest, { types, kinds })}`
    : html`<p><a href="#/events">All events</a></p>${h(Story, { key: stream, stream, kinds })}`
}

/** @param {{ kinds: readonly Kind[] }} props */
function Find({ kinds }) {
  const [asked, setAsked] = useState('')
  /** @param {Submitted} submitted */
  function find(submitted) {
    submitted.preventDefault()
    const entered = new FormData(submitted.currentTarget)
    const stream = entered.get('stream')
    if (stream) location.hash = `#/events/${stream}`
    else setAsked(String(entered.get('place')))
  }
  return html`
    <form class="row" onSubmit=${find}>
      <label>Events of ${anyOf(kinds)} ${h(StreamInput, { kinds })}</label>
      <label>or one record, by partition/offset <input name="place" pattern="[0-9]+/[0-9]+" size="12" placeholder="0/0" /></label>
      <button>Show</button>
    </form>
    ${asked ? h(OneEvent, { place: asked, key: asked }) : null}
  `
}

/**
 * A record, what became of it, and why.
 * @param {{ place: string }} props
 */
export function OneEvent({ place }) {
  const { value, failure } = useAnswer(async () => (await ask(`console/api/events/${place}`)).value, [place])
  if (failure !== undefined) return h(Failure, { of: failure })
  if (value === undefined) return html`<p>Reading …</p>`
  const { key, value: text, outcome, why } = value
  return html`<section class="event" aria-label=${`Record ${place}`}>
    <h3>Record ${place}: ${outcome}</h3>
    <p>${h(Text, { of: why })}</p>
    <p>Key <code>${h(Text, { of: key ?? 'none' })}</code></p>
    ${h(Code, { of: text ?? 'No value.', label: 'Value' })}
  </section>`
}

/**
 * Each event of a stream beside the documents as of it: those that it changed are marked.
 * @param {{ stream: string, kinds: readonly Kind[] }} props
 */
function Story({ stream, kinds }) {
  const [looks, setLooks] = useState(0)
  const look = async () => (await ask(`console/api/streams/${encodeURIComponent(stream)}`)).value
  const { value, failure } = useAnswer(look, [looks])
  if (value === undefined) return html`${h(Failure, { of: failure })}<p>${failure ? '' : 'Reading …'}</p>`
  const { isKnown, versions, before } = value
  if (!isKnown) return html`<p>There are no events of ${h(Text, { of: titleOf(kinds, stream) })}.</p>`
  return html`
    <h2>Events of ${h(Text, { of: titleOf(kinds, stream) })}</h2>
    <p><button type="button" onClick=${() => setLooks(looks + 1)}>Look again</button></p>
    ${h(Failure, { of: failure })}
    ${before > 0 ? html`<p class="quiet">${figure(before)} earlier ones are not shown.</p>` : null}
    <ol class="story">${versions.map((told, i) => h(Version, { told, earlier: versions[i - 1]?.documents ?? [] }))}</ol>
  `
}

/** @param {{ told: ToldVersion, earlier: ToldVersion['documents'] }} props */
function Version({ told: { event, place, documents }, earlier }) {
  const [isOpen, setOpen] = useState(false)
  const shown = /** @type {ShownEvent} */ (parseExact(event))
  const { type, time: at, data } = shown
  const version = versionOf(shown)
  const shownBefore = new Map(earlier.map(({ collection, id, json }) => [`${collection} ${id}`, json]))
  return html`<li>
    <div>
      <h3>${version}: ${h(Text, { of: type })}</h3>
      <p>${h(Text, { of: at ?? '' })} <button type="button" class="link" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>Record ${place}</button></p>
      ${isOpen ? h(OneEvent, { place }) : h(Code, { of: written(data), label: `Data of version ${version}` })}
    </div>
    <div>${documents.map(({ collection, id, json }) => {
      const name = `${collection} ${id}`
      const before = shownBefore.get(name)
      return html`<h3>${name}${before === json ? null : html` <strong>${before === undefined ? 'new' : 'changed'}</strong>`}</h3>
        <pre tabindex="0" aria-label=${`${name} as of version ${version}`}>${linesOf(json, before === undefined ? json : before)}</pre>`
    })}</div>
  </li>`
}

/**
 * Those of a document that are others than before are marked.
 * @param {string | null} json
 * @param {string | null} before
 */
function linesOf(json, before) {
  /** @param {string | null} text */
  const lines = (text) => (text === null ? ['removed'] : written(parseExact(text)).split('\n'))
  const earlier = new Set(lines(before))
  return lines(json).map((line) => {
    const shown = h(Text, { of: line })
    return html`${earlier.has(line) ? shown : html`<mark>${shown}</mark>`}${'\n'}`
  })
}
