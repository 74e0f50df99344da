import { useState } from 'preact/hooks'
import { ask } from './api.js'
import { CommandForm, valuesOf } from './form.js'
import { written } from './json.js'
import { Code, Failure, h, html, Table, Text, useAnswer } from './parts.js'

/**
 * @import { Chosen, Command, OpenApi, PageProps, Resource, SchemaOf, Submitted } from './types.ts'
 * @typedef {{ resource: Resource, commands: readonly Command[], schemaOf: SchemaOf }} Known
 */

/**
 * Every kind of document: browsed, found by id, and changed by the commands of the service.
 * @param {Pick<PageProps, 'path'>} props
 */
export function Documents({ path: [collection, id] }) {
  const { value: document, failure } = useAnswer(async () => (await ask('openapi.json')).value, [])
  if (document === undefined) return html`${h(Failure, { of: failure })}<p>${failure ? '' : 'Asking …'}</p>`
  const { resources, commands, schemaOf } = understood(document)
  const resource = resources.find((each) => each.collection === collection) ?? resources[0]
  if (resource === undefined) return html`<p>None.</p>`
  return html`
    <nav class="tabs" aria-label="Kinds of documents">
      ${resources.map(({ collection: name }) => {
        const current = name === resource.collection ? 'page' : undefined
        return html`<a href=${`#/documents/${encodeURIComponent(name)}`} aria-current=${current}>${name}</a>`
      })}
    </nav>
    ${
      id === undefined
        ? h(List, { key: resource.path, resource, commands, schemaOf })
        : h(One, { key: `${resource.path}/${id}`, resource, id, commands, schemaOf })
    }
  `
}

/**
 * What the OpenAPI document says of lists and commands.
 * @param {OpenApi} document
 */
function understood({ paths, components }) {
  /** @type {SchemaOf} */
  const schemaOf = (schema) => {
    if (schema.$ref === undefined) return schema
    const { [schema.$ref.split('/').at(-1) ?? '']: referred = {} } = components.schemas
    return { ...schemaOf(referred), ...schema, $ref: undefined }
  }
  const resources = Object.entries(paths).flatMap(([path, { get }]) => {
    const one = Object.keys(paths).find((each) => new RegExp(`^${path}/\\{\\w+\\}$`).test(each))
    if (get === undefined || one === undefined) return []
    const filters = (get.parameters ?? []).flatMap(({ name, in: place, schema }) => {
      const values = place === 'query' ? valuesOf(schemaOf(schema ?? {})) : undefined
      return values === undefined ? [] : [{ name, values }]
    })
    return [
      {
        collection: path.slice(1),
        path: `v1${path}`,
        one: `v1${one}`,
        filters,
        parameter: /\{(\w+)\}/.exec(one)?.[1] ?? '',
      },
    ]
  })
  const commands = Object.entries(paths).flatMap(([path, operations]) =>
    /** @type {const} */ (['post', 'patch', 'delete']).flatMap((method) => {
      const { [method]: operation } = operations
      return operation === undefined ? [] : [{ ...operation, path: `v1${path}`, method: method.toUpperCase() }]
    }),
  )
  return { resources, commands, schemaOf }
}

/** @param {Known} props */
function List({ resource, commands, schemaOf }) {
  const [query, setQuery] = useState({ filter: '', cursor: '' })
  const page = useAnswer(
    async () => {
      const { value, headers } = await ask(`${resource.path}?limit=20${query.filter}${query.cursor}`)
      const next = /[?&](cursor=[^&>]*)/.exec(headers.get('link') ?? '')?.[1]
      return { documents: /** @type {Record<string, unknown>[]} */ (value), next: next && `&${next}` }
    },
    [query],
    3000,
  )
  const documents = page.value?.documents ?? []
  const names = [...new Set(documents.flatMap(Object.keys))]
  /** @param {string} name @param {string} value */
  const filterBy = (name, value) =>
    setQuery({ cursor: '', filter: value && `&${new URLSearchParams({ [name]: value })}` })
  const { next } = page.value ?? {}
  /** @param {string} id */
  const addressOf = (id) => `#/documents/${encodeURIComponent(resource.collection)}/${encodeURIComponent(id)}`
  /** @param {Submitted} submitted */
  function find(submitted) {
    submitted.preventDefault()
    location.hash = addressOf(String(new FormData(submitted.currentTarget).get('id')))
  }
  return html`
    <form class="row" onSubmit=${find}>
      ${resource.filters.map(
        ({
          name,
          values,
        }) => html`<label>${name} <select onChange=${/** @param {Chosen} changed */ ({ currentTarget }) => filterBy(name, currentTarget.value)}>
          <option value="">all</option>${values.map((value) => html`<option>${value}</option>`)}
        </select></label>`,
      )}
      <label>id <input name="id" inputmode="numeric" pattern="-?[0-9]+" required size="12" /></label><button>Find</button>
    </form>
    ${h(Failure, { of: page.failure })}
    ${h(Table, {
      ...{ label: resource.collection, titles: names, empty: page.value === undefined ? 'Asking …' : 'None.' },
      rows: documents.map((document) =>
        names.map((name) =>
          name === 'id'
            ? html`<a href=${addressOf(String(document.id))}>${String(document.id)}</a>`
            : h(Text, { of: document[name] ?? '' }),
        ),
      ),
    })}
    <p class="buttons">
      <button type="button" disabled=${query.cursor === ''} onClick=${() => setQuery({ ...query, cursor: '' })}>First page</button>
      <button type="button" disabled=${next === undefined} onClick=${() => setQuery({ ...query, cursor: next ?? '' })}>Next page</button>
    </p>
    <h2>Commands</h2>
    <div class="commands">
      ${commands.filter(({ path }) => path === resource.path).map((command) => h(CommandForm, { command, params: {}, schemaOf }))}
    </div>
  `
}

/** @param {Known & { id: string }} props */
function One({ resource, id, commands, schemaOf }) {
  const [changes, setChanges] = useState(0)
  const found = useAnswer(
    async () => {
      const { value, headers } = await ask(`${resource.path}/${encodeURIComponent(id)}`)
      return { document: value, tag: headers.get('etag') }
    },
    [changes],
    3000,
  )
  const stream = useAnswer(async () => {
    const query = new URLSearchParams({ path: `/${resource.path}`, id })
    return (await ask(`console/api/stream-of?${query}`)).value.stream
  }, [])
  return html`
    <h2>${resource.collection} ${h(Text, { of: id })}</h2>
    ${h(Failure, { of: found.failure })}
    ${found.value === undefined ? null : h(Code, { of: written(found.value.document), label: 'Document' })}
    ${stream.value === undefined ? null : html`<p><a href=${`#/events/${encodeURIComponent(stream.value)}`}>Its events</a></p>`}
    <div class="commands">
      ${commands
        .filter(({ path }) => path === resource.one)
        .map((command) =>
          h(CommandForm, {
            ...{ command, params: { [resource.parameter]: id }, schemaOf },
            ...(found.value?.tag && { headers: { 'if-match': found.value.tag } }),
            onDone: () => setChanges(changes + 1),
          }),
        )}
    </div>
  `
}
