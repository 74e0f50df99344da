import { useEffect, useState } from 'preact/hooks'
import { ask } from './api.js'
import {
  Code,
  Dialog,
  duration,
  Failure,
  figure,
  Guarded,
  h,
  html,
  several,
  Table,
  Text,
  time,
  useAnswer,
} from './parts.js'
import { Plot } from './plot.js'
import { Published } from './published.js'

/**
 * @import { Mark, Sample, Status } from '../answers.ts'
 * @import { Line, PageProps } from './types.ts'
 */

const samplesMax = 180

/**
 * Whether the service is well; and what it did in the last quarter of an hour.
 * @param {Pick<PageProps, 'status'>} props
 */
export function Overview({ status }) {
  const { samples, marks, failure } = useFigures(status.process.startedAt)
  /** @type {Partial<Sample>} */
  const last = samples.at(-1) ?? {}
  const own = `of process ${status.process.name}`
  const errors = sumOfErrors(samples)
  return html`
    ${h(Problems, { problems: status.problems, lag: status.lag })}
    ${h(Failure, { of: failure })}
    <ul class="cards" aria-label="Figures of now">
      ${h(Card, { value: last.appended, unit: 'a second', what: 'come into the log' })}
      ${h(Card, { value: last.projected, unit: 'a second', what: 'reach the read models' })}
      ${h(Card, { value: last.lagEvents, unit: several(last.lagEvents, 'event'), what: `the read models are behind, for ${figure(last.lagSeconds)} s` })}
      ${h(Card, { value: last.requests, unit: 'a second', what: 'requests are answered', note: own })}
      ${h(Card, { value: last.p99, unit: 'ms', what: `99 of 100 answers take at most, and half of them ${figure(last.p50)} ms`, note: own })}
    </ul>
    <div class="plots">
      ${h(Plot, { title: 'Events', unit: 'a second', samples, marks, lines: eventLines })}
      ${h(Plot, { title: 'Behind', unit: 'events', samples, marks, lines: lagLines })}
      ${h(Plot, { title: `Requests ${own}`, unit: 'a second', samples, marks, lines: requestLines })}
      ${h(Plot, { title: `Answers ${own}`, unit: 'ms', samples, marks, lines: latencyLines })}
    </div>
    ${h(Guarded, {}, h(Published, {}))}
    <h2>What happened</h2>
    ${h(Table, {
      ...{ label: 'What happened', titles: ['When', 'What'], empty: 'Nothing yet.' },
      rows: marks.toReversed().map(({ at, what }) => [time(at), what]),
    })}
    <h2>Errors ${own}, in 15 minutes</h2>
    ${h(Table, {
      ...{ label: 'Errors by code', titles: ['Code', 'Answers'], empty: 'None.' },
      rows: errors.map(([code, count]) => [html`<code>${code}</code>`, figure(count)]),
    })}
  `
}

/** @type {Line[]} */
const eventLines = [
  { name: 'appended', of: ({ appended }) => appended },
  { name: 'projected', of: ({ projected }) => projected },
]
/** @type {Line[]} */
const lagLines = [{ name: 'behind', of: ({ lagEvents }) => lagEvents }]
/** @type {Line[]} */
const requestLines = [
  { name: 'requests', of: ({ requests }) => requests },
  { name: 'errors', of: ({ errors }) => errors && Object.values(errors).reduce((sum, count) => sum + count, 0) / 5 },
]
/** @type {Line[]} */
const latencyLines = [
  { name: 'median', of: ({ p50 }) => p50 },
  { name: '99 of 100', of: ({ p99 }) => p99 },
]

/** @param {{ value: number | undefined, unit: string, what: string, note?: string }} props */
function Card({ value, unit, what, note }) {
  return html`<li><b>${figure(value)}</b> ${unit} <span>${what}${note ? html` <small>${note}</small>` : null}</span></li>`
}

/** @param {Pick<Status, 'problems' | 'lag'>} props */
function Problems({ problems, lag }) {
  const [heading, setHeading] = useState(/** @type {string | undefined} */ (undefined))
  const sentence =
    problems.length > 0 ? 'Something is wrong.' : lag.status === 'known' ? 'All well.' : `Not known yet: ${lag.reason}.`
  return html`
    <p class=${problems.length > 0 ? 'sentence bad' : 'sentence good'} role="status">${sentence}</p>
    ${problems.map(
      ({ what, remedy, since, runbook }) => html`<article class="problem">
        <h2>${h(Text, { of: what })}</h2>
        <p>Since ${time(since)}, for ${duration(Date.now() - since)}. ${`${remedy} `}
          <button class="link" type="button" onClick=${() => setHeading(runbook)}>Runbook: ${runbook}</button></p>
      </article>`,
    )}
    ${heading === undefined ? null : h(Runbook, { heading, onClose: () => setHeading(undefined) })}
  `
}

/** @param {{ heading: string, onClose: () => void }} props */
function Runbook({ heading, onClose }) {
  const look = async () => (await ask(`console/api/runbook?heading=${encodeURIComponent(heading)}`)).value
  const { value, failure } = useAnswer(look, [heading])
  const shown = value === undefined ? 'Reading …' : h(Code, { of: value, label: heading })
  return h(Dialog, { title: heading, onClose }, h(Failure, { of: failure }), shown)
}

/**
 * The samples of the last quarter of an hour, as many as fit, whatever time the page is open.
 * @param {number} startedAt
 */
function useFigures(startedAt) {
  const [state, setState] = useState(
    /** @type {{ samples: Sample[], marks: readonly Mark[], failure?: unknown }} */ ({ samples: [], marks: [] }),
  )
  useEffect(() => {
    let isOver = false
    let timer = 0
    /** @type {Sample[]} */
    let samples = []
    async function goOn() {
      let pauseMs = 1000
      try {
        const { value } = await ask(`console/api/figures?after=${samples.at(-1)?.number ?? 0}`)
        samples = [...samples, ...value.samples].slice(-samplesMax)
        pauseMs = value.everyMs
        if (!isOver) setState({ samples, marks: value.marks })
      } catch (failure) {
        if (!isOver) setState((before) => ({ ...before, failure }))
      }
      if (!isOver) timer = setTimeout(goOn, pauseMs)
    }
    goOn()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [startedAt])
  return state
}

/** @param {readonly Sample[]} samples */
function sumOfErrors(samples) {
  /** @type {Map<string, number>} */
  const sums = new Map()
  for (const { errors } of samples) {
    for (const [code, count] of Object.entries(errors)) sums.set(code, (sums.get(code) ?? 0) + count)
  }
  return [...sums].sort(([, a], [, b]) => b - a)
}
