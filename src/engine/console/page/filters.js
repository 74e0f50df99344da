import { useEffect, useRef } from 'preact/hooks'
import { ask } from './api.js'
import { figure, h, html, useAnswer } from './parts.js'
import { refusing } from './together.js'

/**
 * @import { DocumentFilter, DocumentList } from '../answers.ts'
 * @import { Entered } from './types.ts'
 * @typedef {Readonly<Record<string, string>>} Values
 */

/**
 * The filters of a list; one that does not go together with those chosen cannot be entered. Calls `onChoose` with all that
 * are chosen then.
 * @param {{ list: DocumentList, chosen: Values, onChoose: (chosen: Values) => void }} props
 */
export function Filters({ list, chosen, onChoose }) {
  const counts = useCounts(list, chosen)
  if (list.filters.length === 0) return null
  /** @param {Entered} entered */
  function choose(entered) {
    entered.preventDefault()
    onChoose(chosenIn(new FormData(entered.currentTarget)))
  }
  return html`<form class="row" aria-label="Filters" onChange=${choose} onSubmit=${choose}>
    ${list.filters.map((filter) => {
      const { name, values } = filter
      const against = refusing(list.filters, Object.keys(chosen), name)
      const props = { filter, value: chosen[name] ?? '', isOff: against.length > 0 }
      const why = against.length === 0 ? '' : `, not with ${against.join(' and ')}`
      const ofValues = name === list.counts?.by ? counts : undefined
      return html`<label>${name}${why} ${values === undefined ? h(AnyValue, props) : h(Choice, { ...props, counts: ofValues })}</label>`
    })}
    ${list.filters.some(({ values }) => values === undefined) ? html`<button>Filter</button>` : null}
  </form>`
}

/** @param {{ filter: DocumentFilter, value: string, isOff: boolean, counts: Values | undefined }} props */
function Choice({ filter: { name, values = [] }, value, isOff, counts }) {
  /** @param {string} each */
  const labelOf = (each) => (counts?.[each] === undefined ? each : `${each} (${counts[each]})`)
  return html`<select name=${name} value=${value} disabled=${isOff}>
    <option value="">all</option>${values.map((each) => html`<option value=${each}>${labelOf(each)}</option>`)}
  </select>`
}

/**
 * What is being entered stays while the page is drawn again.
 * @param {{ filter: DocumentFilter, value: string, isOff: boolean }} props
 */
function AnyValue({ filter: { name, isInteger }, value, isOff }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null))
  useEffect(() => {
    if (field.current !== null) field.current.value = value
  }, [value])
  return html`<input ref=${field} name=${name} disabled=${isOff} size="14" autocomplete="off" inputmode=${isInteger ? 'numeric' : 'text'} />`
}

/**
 * How many there are by each value, of those that the other filters choose. None while that is not known.
 * @param {DocumentList} list
 * @param {Values} chosen
 * @returns {Values | undefined}
 */
function useCounts({ counts }, chosen) {
  const within = new URLSearchParams(Object.entries(chosen).filter(([name]) => counts?.within.includes(name)))
  const path = counts && `${counts.path}?${within}`
  const { value, failure } = useAnswer(
    async () => ({ path, counts: path === undefined ? {} : (await ask(path)).value }),
    [path],
    path === undefined ? undefined : 3000,
  )
  if (failure !== undefined || value?.path !== path) return undefined
  return Object.fromEntries(Object.entries(value?.counts ?? {}).map(([each, count]) => [each, figure(Number(count))]))
}

/** @param {FormData} entered */
function chosenIn(entered) {
  return Object.fromEntries([...entered].flatMap(([name, value]) => (value === '' ? [] : [[name, String(value)]])))
}
