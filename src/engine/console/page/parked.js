import { useState } from 'preact/hooks'
import { ask } from './api.js'
import { OneEvent } from './events.js'
import { Dialog, Failure, figure, h, html, Table, Text, useAnswer, useFailure } from './parts.js'

/**
 * @import { ParkedFirst } from '../answers.ts'
 * @import { PageProps, Submitted } from './types.ts'
 */

/**
 * Events that could not be applied, and what can be done about them.
 * @param {Pick<PageProps, 'status' | 'mayOperate'>} props
 */
export function Parked({ status: { lag }, mayOperate }) {
  const [chosen, setChosen] = useState(/** @type {ParkedFirst | undefined} */ (undefined))
  const partitions = lag.status === 'known' ? lag.partitions : []
  const counted = partitions.map(({ checkpoint: { counts } }) => `${counts.parked}/${counts.discarded}`).join()
  const { value, failure } = useAnswer(async () => (await ask('console/api/parked')).value, [counted])
  if (value === undefined) return html`${h(Failure, { of: failure })}<p>${failure ? '' : 'Asking …'}</p>`
  const { streams, more } = value
  return html`
    <h2>Parked events</h2>
    <p>An event that cannot be applied waits here, and those behind it in its stream wait too. Discard the first one for good, or put the cause right and rebuild.</p>
    ${h(Failure, { of: failure })}
    ${more > 0 ? html`<p class="quiet">${figure(more)} more streams have parked events.</p>` : null}
    ${h(Table, {
      ...{
        label: 'Parked events',
        empty: 'No event is parked.',
        titles: ['Event', 'Stream', 'Reason', 'Wait behind it'],
      },
      rows: streams.map((parked) => [
        html`<button type="button" onClick=${() => setChosen(parked)}>Look at ${placeOf(parked)}</button>`,
        h(Text, { of: parked.stream }),
        h(Text, { of: parked.reason }),
        figure(parked.waiting),
      ]),
    })}
    ${chosen === undefined ? null : h(One, { parked: chosen, mayOperate, onClose: () => setChosen(undefined) })}
  `
}

/** @param {ParkedFirst} parked */
function placeOf({ partition, first }) {
  return `${partition}/${first}`
}

/** @param {{ parked: ParkedFirst, mayOperate: boolean, onClose: () => void }} props */
function One({ parked, mayOperate, onClose }) {
  const place = placeOf(parked)
  const [failure, setFailure] = useFailure()
  const [told, setTold] = useState(/** @type {string | undefined} */ (undefined))
  const [isBusy, setBusy] = useState(false)
  /** @param {Submitted} submitted */
  async function discard(submitted) {
    submitted.preventDefault()
    const entered = new FormData(submitted.currentTarget)
    if (entered.get('confirmed') !== place) return setFailure(new Error(`Type ${place} to confirm.`))
    setBusy(true)
    setFailure(undefined)
    try {
      const body = JSON.stringify({ reason: entered.get('reason') })
      const { value } = await ask(`console/api/parked/${place}/discard`, { method: 'POST', body, timeoutMs: 30_000 })
      setTold(value.isApplied ? 'It is discarded.' : 'The decision is in the log, but no projector has applied it yet.')
    } catch (raised) {
      setFailure(raised)
    }
    setBusy(false)
  }
  return h(
    Dialog,
    { title: `Parked event ${place}`, onClose },
    html`
    <p>Stream ${h(Text, { of: parked.stream })}</p>
    ${h(OneEvent, { place })}
    ${h(Failure, { of: failure })}
    ${told === undefined ? null : html`<p class="good" role="status">${told}</p>`}
    ${
      mayOperate && told === undefined
        ? html`<form onSubmit=${discard}>
            <p>To discard it for good says so in the log, with those behind it applied. It cannot be undone.</p>
            <label>Reason, for the audit log <input name="reason" required maxlength="200" /></label>
            <label>Type ${place} to confirm <input name="confirmed" required autocomplete="off" /></label>
            <button disabled=${isBusy}>Discard</button>
          </form>`
        : null
    }`,
  )
}
