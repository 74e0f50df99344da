import { useState } from 'preact/hooks'
import { ask } from './api.js'
import {
  Count,
  Dialog,
  duration,
  Failure,
  figure,
  Guarded,
  h,
  html,
  Table,
  Text,
  time,
  useAnswer,
  useFailure,
} from './parts.js'

/**
 * @import { Job, ShownPartition, Status } from '../answers.ts'
 * @import { PageProps } from './types.ts'
 */

/**
 * The way of an event: from the log over the projectors to what is served.
 * @param {Pick<PageProps, 'status' | 'mayOperate'>} props
 */
export function Pipeline({ status, mayOperate }) {
  const { lag } = status
  const projectors = useAnswer(async () => (await ask('console/api/projectors')).value, [], 3000)
  const owners = projectors.failure === undefined ? projectors.value : undefined
  return html`
    ${h(Picture, { status, owners })}
    ${h(Work, { job: status.job, mayOperate })}
    <h2>Partitions</h2>
    ${
      lag.status === 'unknown'
        ? html`<p>Not known: ${lag.reason}.</p>`
        : h(Table, {
            ...{ label: 'Partitions', empty: 'None.' },
            titles: ['Partition', 'Log ends at', 'Projected up to', 'Behind', 'For', 'Projector'],
            rows: lag.partitions.map(({ partition, events, seconds, checkpoint: { next } }) => [
              partition,
              figure(next + events),
              figure(next),
              figure(events),
              `${figure(seconds)} s`,
              h(Text, { of: owners === undefined ? 'not known' : (owners[partition] ?? 'nobody') }),
            ]),
          })
    }
    ${h(Failure, { of: projectors.failure })}
    <h2>Generations of the read models</h2>
    ${h(Guarded, {}, h(Generations, {}))}
  `
}

function Generations() {
  const { value, failure } = useAnswer(async () => (await ask('console/api/generations')).value, [], 3000)
  const generations = value?.generations ?? []
  const collections = Object.keys(generations.find(({ documents }) => documents)?.documents ?? {})
  return html`
    ${h(Failure, { of: failure })}
    ${h(Table, {
      ...{ label: 'Generations', empty: value === undefined ? 'Asking …' : 'None yet.' },
      titles: ['Version', 'Generation', 'State', 'Since', 'Position', 'Behind', ...collections, 'Parked'],
      rows: generations.map(({ version, name, state, since, position, lag: behind, documents, parked }) => [
        version,
        html`<code title=${name}>${name.slice(0, 8)}</code>`,
        state,
        new Date(since).toLocaleString(),
        figure(position),
        figure(behind),
        ...collections.map((collection) => figure(documents?.[collection])),
        figure(parked),
      ]),
    })}
  `
}

/** @param {{ status: Status, owners: Readonly<Record<string, string>> | undefined }} props */
function Picture({ status: { lag, service }, owners = {} }) {
  const known = lag.status === 'known' ? lag : undefined
  /** @param {(each: ShownPartition) => number} of */
  const sum = (of) => known?.partitions.reduce((total, each) => total + of(each), 0)
  const records = sum(({ checkpoint, events }) => checkpoint.next + events)
  const behind = sum(({ events }) => events)
  return html`<ol class="way" aria-label="The way of an event">
    <li><h2>Event log</h2><p>${h(Count, { of: records, one: 'record' })} in ${h(Count, { of: known?.partitions.length, one: 'partition' })}</p></li>
    <li>
      <h2>Projectors</h2>
      <p>${h(Count, { of: behind, one: 'event' })} behind</p>
      ${Object.entries(Object.groupBy(Object.values(owners), (name) => name)).map(
        ([name, has]) => html`<p>${h(Text, { of: name })} has ${h(Count, { of: has?.length, one: 'partition' })}</p>`,
      )}
    </li>
    <li>
      <h2>Read models</h2>
      <p>Generation <code>${known?.generation.slice(0, 8) ?? '?'}</code></p>
      <p>${known?.rebuildEvents === undefined ? 'None is being built.' : html`${h(Count, { of: known.rebuildEvents, one: 'event' })} until the next one is built`}</p>
    </li>
    <li><h2>Answers</h2><p>of ${service.title}</p></li>
  </ol>`
}

/**
 * Rebuild and verify: begun here, and watched.
 * @param {{ job: Job | undefined, mayOperate: boolean }} props
 */
function Work({ job, mayOperate }) {
  const [isAsked, setAsked] = useState(false)
  const [failure, setFailure] = useFailure()
  const isBusy = job !== undefined && job.endedAt === undefined
  /** @param {'rebuild' | 'verify'} kind */
  async function start(kind) {
    setAsked(false)
    setFailure(undefined)
    await ask(`console/api/jobs/${kind}`, { method: 'POST' }).catch(setFailure)
  }
  return html`
    <h2>Rebuild and verify</h2>
    <p class="buttons">
      <button type="button" disabled=${!mayOperate || isBusy} onClick=${() => setAsked(true)}>Rebuild the read models</button>
      <button type="button" disabled=${!mayOperate || isBusy} onClick=${() => start('verify')}>Verify the read models</button>
      ${mayOperate ? null : html`<span class="quiet">That needs a key of scope operate.</span>`}
    </p>
    ${h(Failure, { of: failure })}
    ${job === undefined ? null : h(Progress, { job })}
    ${
      isAsked
        ? h(
            Dialog,
            { title: 'Rebuild the read models?', onClose: () => setAsked(false) },
            html`<p>They are built anew from the log beside the live ones, which serve until then, and take over.</p>
              <button type="button" onClick=${() => start('rebuild')}>Rebuild</button>`,
          )
        : null
    }
  `
}

/** @param {{ job: Job }} props */
function Progress({ job: { kind, actor, startedAt, endedAt = startedAt, step, done, total, result } }) {
  const begun = `${kind}, begun at ${time(startedAt)} by ${actor}`
  if (result !== undefined) {
    return html`<p role="status" class=${result.isGood ? 'good' : 'bad'}>${begun}: ended after ${duration(endedAt - startedAt)}. ${h(Text, { of: result.outcome })}</p>
      ${(result.differences ?? []).map(
        ({
          where,
          id,
          expected = 'nothing',
          found = 'nothing',
        }) => html`<p class="difference"><b>${h(Text, { of: `${where} ${id}` })}</b>
          expected <code>${h(Text, { of: expected })}</code>, found <code>${h(Text, { of: found })}</code></p>`,
      )}`
  }
  const passed = Date.now() - startedAt
  const left = done > 0 && total > done ? `, about ${duration((passed / done) * (total - done))} left` : ''
  return html`<p><label>${begun}: ${step}, ${figure(done)} of ${figure(total)}${left}
    <progress max=${Math.max(1, total)} value=${done}></progress></label></p>`
}
