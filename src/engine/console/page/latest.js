import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, every, follow } from './api.js'
import { begun, endOf, eventsIn, nameOf, versionOf, withEarlier, withLater } from './event-list.js'
import { written as jsonOf } from './json.js'
import { anyOf, isStream, StreamInput } from './kinds.js'
import { Failure, figure, h, html, moment, Table, Text, useFailure } from './parts.js'
import { Refused } from './refused.js'

/**
 * @import { Kind } from '../answers.ts'
 * @import { ShownEvent, TailMessage } from '../event-answers.ts'
 * @import { Chosen, EventList } from './types.ts'
 * @typedef {{ type: string, stream: string }} Filter
 * @typedef {(list: EventList | ((before: EventList) => EventList)) => void} Take
 */

const againMs = 1000
/** So often in a row it asks by itself for earlier events and gets none: then whoever looks has to. */
const vainMax = 10

/**
 * The latest events and what comes from now on; earlier ones where the page is scrolled to its end.
 * @param {{ types: readonly string[], kinds: readonly Kind[] }} props
 */
export function Latest({ types, kinds }) {
  const [filter, setFilter] = useState({ type: '', stream: '' })
  const [isPaused, setPaused] = useState(false)
  /** @param {Partial<Filter>} chosen */
  function choose(chosen) {
    setFilter({ ...filter, ...chosen })
    setPaused(false)
  }
  /** @param {Chosen} changed */
  const chooseType = ({ currentTarget: { value } }) => choose({ type: value })
  /** @param {Chosen} changed */
  const chooseStream = ({ currentTarget: { value } }) => choose({ stream: isStream(kinds, value) ? value : '' })
  return html`
    <h2>Latest events</h2>
    <p class="row">
      <label>Type <select value=${filter.type} onChange=${chooseType}>
        <option value="">all</option>${types.map((each) => html`<option>${each}</option>`)}
      </select></label>
      <label>only ${anyOf(kinds)} ${h(StreamInput, { kinds, onChange: chooseStream })}</label>
      <button type="button" aria-pressed=${isPaused} onClick=${() => setPaused(!isPaused)}>${isPaused ? 'Go on' : 'Pause'}</button>
    </p>
    ${h(List, { key: `${filter.type} ${filter.stream}`, filter, kinds, isPaused, setPaused })}
  `
}

/** @param {{ filter: Filter, kinds: readonly Kind[], isPaused: boolean, setPaused: (isPaused: boolean) => void }} props */
function List({ filter, kinds, isPaused, setPaused }) {
  const { list, failure, take } = useTail(filter, isPaused)
  const earlier = useEarlier(filter, list, take)
  useEffect(() => {
    if (list.isCut) setPaused(true)
  }, [list.isCut])
  const events = eventsIn(list)
  return html`
    ${list.leftOut > 0 ? html`<p class="bad" role="status">A sample: ${figure(list.leftOut)} more are not shown.</p>` : null}
    ${isPaused ? html`<p class="quiet" role="status">Paused: later events are not shown.</p>` : null}
    ${h(Failure, { of: failure })}
    ${h(Table, {
      ...{ label: 'Events', titles: ['Time', anyOf(kinds), 'Version', 'Type', 'Data'] },
      ...{
        empty: earlier.isAtBeginning ? 'There are no events.' : '',
        keys: events.map(nameOf),
        rows: events.map(rowOf),
      },
    })}
    ${h(Earlier, { ...earlier, isEmpty: events.length === 0 })}
  `
}

/** @type {WeakMap<ShownEvent, { at: string, data: string }>} */
const written = new WeakMap()

/**
 * Made once for each event: to write 200 of them again takes longer than to draw them.
 * @param {ShownEvent} event
 */
function writtenOf(event) {
  const known = written.get(event)
  if (known !== undefined) return known
  const { time, data } = event
  const texts = { at: time === undefined ? '' : moment(time), data: jsonOf(data).replaceAll(/\s+/g, ' ').slice(0, 300) }
  written.set(event, texts)
  return texts
}

/** @param {ShownEvent} event */
function rowOf(event) {
  const { subject, type } = event
  const { at, data } = writtenOf(event)
  return [
    h(Text, { of: at }),
    html`<a href=${`#/events/${encodeURIComponent(subject)}`}>${h(Text, { of: subject })}</a>`,
    versionOf(event),
    h(Text, { of: type }),
    html`<code class="cut">${h(Text, { of: data })}</code>`,
  ]
}

/**
 * The end of the list: it is asked for more when it comes into sight.
 * @param {ReturnType<typeof useEarlier> & { isEmpty: boolean }} props
 */
function Earlier({ isBegun, isAtBeginning, isAsking, isInVain, failure, ask: askNow, sight, isEmpty }) {
  if (!isBegun) return html`<p class="quiet">Asking …</p>`
  if (isAtBeginning) return isEmpty ? null : html`<p class="quiet" role="status">The log begins here.</p>`
  const said = isInVain ? 'None among the last ones that were looked at.' : ''
  return html`<div ref=${sight}>
    ${h(Failure, { of: failure })}
    <p class="row"><button type="button" onClick=${askNow}>Earlier events</button> <span class="quiet" role="status">${isAsking ? 'Reading …' : said}</span></p>
  </div>`
}

/**
 * Begins anew whenever the answer ends: then it has missed nothing.
 * @param {Filter} filter
 * @param {boolean} isPaused
 */
function useTail(filter, isPaused) {
  const [list, setList] = useState(/** @type {EventList} */ ({ blocks: [], after: '', leftOut: 0, isCut: false }))
  const [failure, setFailure] = useFailure()
  useEffect(() => {
    if (isPaused) return
    const stopped = new AbortController()
    const end = every(againMs, async () => {
      let isFirst = true
      /** @param {TailMessage} message */
      function take(message) {
        setFailure(undefined)
        setList(isFirst ? begun(message) : (before) => withLater(before, message))
        isFirst = false
      }
      await follow(`console/api/tail?${queryOf(filter)}`, take, stopped.signal).catch((raised) => {
        if (!stopped.signal.aborted) setFailure(raised)
      })
    })
    return () => {
      end()
      stopped.abort()
    }
  }, [isPaused])
  return { list, failure, take: setList }
}

/** @param {Filter} filter @param {EventList} list @param {Take} take */
function useEarlier(filter, list, take) {
  const [isAsking, setAsking] = useState(false)
  const [failure, setFailure] = useFailure()
  const [vain, setVain] = useState(0)
  const sight = useRef(/** @type {HTMLElement | null} */ (null))
  const before = endOf(list)
  async function askNow() {
    if (isAsking || !before) return
    setAsking(true)
    try {
      const { value } = await ask(`console/api/events?${queryOf({ ...filter, before })}`)
      take((now) => withEarlier(now, before, value))
      setVain(value.events.length === 0 ? vain + 1 : 0)
      setFailure(undefined)
    } catch (raised) {
      setFailure(raised)
      if (!(raised instanceof Refused && raised.status === 429)) setVain(vain + 1)
      await new Promise((resolve) => setTimeout(resolve, againMs))
    }
    setAsking(false)
  }
  const isInVain = vain >= vainMax
  useEffect(() => {
    if (isAsking || isInVain || !sight.current) return
    // Observed anew each time: it tells at once whether the end is still in sight, below what was added.
    const observer = new IntersectionObserver((entries) => entries.at(-1)?.isIntersecting && askNow())
    observer.observe(sight.current)
    return () => observer.disconnect()
  }, [before, isAsking, isInVain])
  const isBegun = before !== undefined
  return { isBegun, isAtBeginning: before === null, isAsking, isInVain, failure, ask: askNow, sight }
}

/** @param {Record<string, string>} values */
function queryOf(values) {
  return new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ''))
}
