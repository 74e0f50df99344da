import { useState } from 'preact/hooks'
import { ask } from './api.js'
import { parseExact, written } from './json.js'
import { Latest } from './latest.js'
import { Code, Failure, figure, html, Text, useAnswer } from './parts.js'

/** The latest events, what one record is, and what each event of a stream did. */
export function Events({ status, path }) {
  const [stream] = path
  return stream === undefined
    ? html`<${Find} noun=${status.service.noun} /><${Latest} types=${status.service.types} noun=${status.service.noun} />`
    : html`<p><a href="#/events">All events</a></p><${Story} key=${stream} stream=${stream} noun=${status.service.noun} />`
}

function Find({ noun }) {
  const [asked, setAsked] = useState()
  function find(submitted) {
    submitted.preventDefault()
    const { stream, place } = Object.fromEntries(new FormData(submitted.target))
    if (stream !== '') location.hash = `#/events/${stream}`
    else setAsked(place)
  }
  return html`
    <form class="row" onSubmit=${find}>
      <label>Events of ${noun} <input name="stream" inputmode="numeric" pattern="-?[0-9]+" size="12" /></label>
      <label>or one record, by partition/offset <input name="place" pattern="[0-9]+/[0-9]+" size="12" placeholder="0/0" /></label>
      <button>Show</button>
    </form>
    ${asked ? html`<${OneEvent} place=${asked} key=${asked} />` : null}
  `
}

/** A record, what became of it, and why. */
export function OneEvent({ place }) {
  const { value, failure } = useAnswer(async () => (await ask(`console/api/events/${place}`)).value, [place])
  if (failure !== undefined) return html`<${Failure} of=${failure} />`
  if (value === undefined) return html`<p>Reading …</p>`
  const { key, value: text, outcome, why } = value
  return html`<section class="event" aria-label=${`Record ${place}`}>
    <h3>Record ${place}: ${outcome}</h3>
    <p><${Text} of=${why} /></p>
    <p>Key <code><${Text} of=${key ?? 'none'} /></code></p>
    <${Code} of=${text ?? 'No value.'} label="Value" />
  </section>`
}

/** Each event of a stream beside the documents as of it: those that it changed are marked. */
function Story({ stream, noun }) {
  const path = `console/api/streams/${encodeURIComponent(stream)}`
  const [looks, setLooks] = useState(0)
  const { value, failure } = useAnswer(async () => (await ask(path)).value, [looks])
  if (value === undefined) return html`<${Failure} of=${failure} /><p>${failure ? '' : 'Reading …'}</p>`
  const { isKnown, versions, before } = value
  if (!isKnown) return html`<p>There are no events of ${noun} <${Text} of=${stream} />.</p>`
  return html`
    <h2>Events of ${noun} <${Text} of=${stream} /></h2>
    <p><button type="button" onClick=${() => setLooks(looks + 1)}>Look again</button></p>
    <${Failure} of=${failure} />
    ${before > 0 ? html`<p class="quiet">${figure(before)} earlier ones are not shown.</p>` : null}
    <ol class="story">${versions.map((told, i) => html`<${Version} told=${told} earlier=${versions[i - 1]?.documents ?? []} />`)}</ol>
  `
}

function Version({ told: { version, event, place, documents }, earlier }) {
  const [isOpen, setOpen] = useState(false)
  const { type, time: at, data } = parseExact(event)
  const shownBefore = new Map(earlier.map(({ collection, id, json }) => [`${collection} ${id}`, json]))
  return html`<li>
    <div>
      <h3>${version}: <${Text} of=${type} /></h3>
      <p><${Text} of=${at ?? ''} /> <button type="button" class="link" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>Record ${place}</button></p>
      ${isOpen ? html`<${OneEvent} place=${place} />` : html`<${Code} of=${written(data)} label=${`Data of version ${version}`} />`}
    </div>
    <div>${documents.map(({ collection, id, json }) => {
      const name = `${collection} ${id}`
      const before = shownBefore.get(name)
      return html`<h3>${name}${before === json ? null : html` <strong>${before === undefined ? 'new' : 'changed'}</strong>`}</h3>
        <pre tabindex="0" aria-label=${`${name} as of version ${version}`}>${linesOf(json, before)}</pre>`
    })}</div>
  </li>`
}

/** Those of a document that are others than before are marked. */
function linesOf(json, before) {
  const lines = (text) => (text === null ? ['removed'] : written(parseExact(text)).split('\n'))
  const earlier = new Set(lines(before ?? json))
  return lines(json).map((line) => {
    const shown = html`<${Text} of=${line} />`
    return html`${earlier.has(line) ? shown : html`<mark>${shown}</mark>`}${'\n'}`
  })
}
