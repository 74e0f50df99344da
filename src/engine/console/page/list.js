import { ask } from './api.js'
import { Filters } from './filters.js'
import { CommandForm } from './form.js'
import { Failure, h, html, Table, Text, useAnswer } from './parts.js'

/**
 * @import { DocumentList } from '../answers.ts'
 * @import { Command, SchemaOf, Submitted } from './types.ts'
 */

/**
 * The documents that the filters choose, page by page. What is chosen, and the page, stand in the address.
 * @param {{ list: DocumentList, query: string, commands: readonly Command[], schemaOf: SchemaOf }} props
 */
export function List({ list, query, commands, schemaOf }) {
  const address = `#/documents/${encodeURIComponent(list.name)}`
  const { cursor, ...chosen } = Object.fromEntries(new URLSearchParams(query))
  /** @param {Readonly<Record<string, string>>} asked */
  function goTo(asked) {
    const [here] = location.hash.split('?') // another address would draw the page anew, without the focus
    const wanted = new URLSearchParams(asked)
    location.hash = wanted.size === 0 ? `${here}` : `${here}?${wanted}`
  }
  /** @param {Submitted} submitted */
  function find(submitted) {
    submitted.preventDefault()
    location.hash = `${address}/${encodeURIComponent(String(new FormData(submitted.currentTarget).get('id')))}`
  }
  return html`
    ${h(Filters, { list, chosen, onChoose: goTo })}
    <form class="row" onSubmit=${find}>
      <label>id <input name="id" inputmode="numeric" pattern="-?[0-9]+" required size="12" /></label><button>Find</button>
    </form>
    ${h(Found, { key: query, list, query, address, onFirst: cursor === undefined ? undefined : () => goTo(chosen), onNext: (next) => goTo({ ...chosen, cursor: next }) })}
    <h2>Commands</h2>
    <div class="commands">
      ${commands.filter(({ path }) => path === list.path).map((command) => h(CommandForm, { command, params: {}, schemaOf }))}
    </div>
  `
}

/**
 * One page of a list.
 * @param {{
 *   list: DocumentList, query: string, address: string,
 *   onFirst: (() => void) | undefined, onNext: (cursor: string) => void
 * }} props
 */
function Found({ list, query, address, onFirst, onNext }) {
  const { value: page, failure } = useAnswer(
    async () => {
      const { value, headers } = await ask(`${list.path}?${new URLSearchParams(`limit=20&${query}`)}`)
      const [, next] = /<([^>]*)>/.exec(headers.get('link') ?? '') ?? []
      return {
        documents: /** @type {Record<string, unknown>[]} */ (value),
        next: next === undefined ? null : new URL(next, location.origin).searchParams.get('cursor'),
      }
    },
    [],
    3000,
  )
  const documents = page?.documents ?? []
  const next = page?.next ?? null
  const names = [...new Set(documents.flatMap(Object.keys))]
  const empty = page === undefined ? (failure === undefined ? 'Asking …' : '') : 'None.'
  return html`
    ${h(Failure, { of: failure })}
    ${h(Table, {
      ...{ label: list.name, titles: names, empty },
      rows: documents.map((document) =>
        names.map((name) =>
          name === 'id'
            ? html`<a href=${`${address}/${encodeURIComponent(String(document.id))}`}>${String(document.id)}</a>`
            : h(Text, { of: document[name] ?? '' }),
        ),
      ),
    })}
    <p class="buttons">
      <button type="button" disabled=${onFirst === undefined} onClick=${onFirst}>First page</button>
      <button type="button" disabled=${next === null} onClick=${() => onNext(next ?? '')}>Next page</button>
    </p>
  `
}
