import { useState } from 'preact/hooks'
import { ask } from './api.js'
import { CommandForm, valuesOf } from './form.js'
import { written } from './json.js'
import { Code, Failure, html, Table, Text, useAnswer } from './parts.js'

/** Every kind of document: browsed, found by id, and changed by the commands of the service. */
export function Documents({ path: [collection, id] }) {
  const { value: document, failure } = useAnswer(async () => (await ask('openapi.json')).value, [])
  if (document === undefined) return html`<${Failure} of=${failure} /><p>${failure ? '' : 'Asking …'}</p>`
  const { resources, commands, schemaOf } = understood(document)
  const resource = resources.find((each) => each.collection === collection) ?? resources[0]
  return html`
    <nav class="tabs" aria-label="Kinds of documents">
      ${resources.map(({ collection: name }) => {
        const current = name === resource.collection ? 'page' : undefined
        return html`<a href=${`#/documents/${encodeURIComponent(name)}`} aria-current=${current}>${name}</a>`
      })}
    </nav>
    ${
      id === undefined
        ? html`<${List} key=${resource.path} resource=${resource} commands=${commands} schemaOf=${schemaOf} />`
        : html`<${One} key=${`${resource.path}/${id}`} resource=${resource} id=${id} commands=${commands} schemaOf=${schemaOf} />`
    }
  `
}

/** What the OpenAPI document says of lists and commands. */
function understood({ paths, components }) {
  const schemaOf = (schema) =>
    schema?.$ref === undefined
      ? schema
      : { ...schemaOf(components.schemas[schema.$ref.split('/').at(-1)]), ...schema, $ref: undefined }
  const resources = Object.entries(paths).flatMap(([path, { get }]) => {
    const one = Object.keys(paths).find((each) => new RegExp(`^${path}/\\{\\w+\\}$`).test(each))
    if (get === undefined || one === undefined) return []
    const filters = (get.parameters ?? []).flatMap(({ name, in: place, schema }) => {
      const values = place === 'query' ? valuesOf(schemaOf(schema) ?? {}) : undefined
      return values === undefined ? [] : [{ name, values }]
    })
    return [
      { collection: path.slice(1), path: `v1${path}`, one: `v1${one}`, filters, parameter: /\{(\w+)\}/.exec(one)[1] },
    ]
  })
  const commands = Object.entries(paths).flatMap(([path, operations]) =>
    ['post', 'patch', 'delete'].flatMap((method) =>
      operations[method] === undefined
        ? []
        : [{ ...operations[method], path: `v1${path}`, method: method.toUpperCase() }],
    ),
  )
  return { resources, commands, schemaOf }
}

function List({ resource, commands, schemaOf }) {
  const [query, setQuery] = useState({ filter: '', cursor: '' })
  const page = useAnswer(
    async () => {
      const { value, headers } = await ask(`${resource.path}?limit=20${query.filter}${query.cursor}`)
      const next = /[?&](cursor=[^&>]*)/.exec(headers.get('link') ?? '')?.[1]
      return { documents: value, next: next && `&${next}` }
    },
    [query],
    3000,
  )
  const documents = page.value?.documents ?? []
  const names = Object.keys(documents[0] ?? {})
  function find(submitted) {
    submitted.preventDefault()
    location.hash = `#/documents/${encodeURIComponent(resource.collection)}/${encodeURIComponent(new FormData(submitted.target).get('id'))}`
  }
  return html`
    <form class="row" onSubmit=${find}>
      ${resource.filters.map(
        ({
          name,
          values,
        }) => html`<label>${name} <select onChange=${({ target }) => setQuery({ cursor: '', filter: target.value && `&${new URLSearchParams({ [name]: target.value })}` })}>
          <option value="">all</option>${values.map((value) => html`<option>${value}</option>`)}
        </select></label>`,
      )}
      <label>id <input name="id" inputmode="numeric" pattern="-?[0-9]+" required size="12" /></label><button>Find</button>
    </form>
    <${Failure} of=${page.failure} />
    <${Table} label=${resource.collection} titles=${names} empty=${page.value === undefined ? 'Asking …' : 'None.'}
      rows=${documents.map((document) =>
        names.map((name) =>
          name === 'id'
            ? html`<a href=${`#/documents/${encodeURIComponent(resource.collection)}/${document.id}`}>${String(document.id)}</a>`
            : html`<${Text} of=${document[name] ?? ''} />`,
        ),
      )} />
    <p class="buttons">
      <button type="button" disabled=${query.cursor === ''} onClick=${() => setQuery({ ...query, cursor: '' })}>First page</button>
      <button type="button" disabled=${page.value?.next === undefined} onClick=${() => setQuery({ ...query, cursor: page.value.next })}>Next page</button>
    </p>
    <h2>Commands</h2>
    <div class="commands">
      ${commands.filter(({ path }) => path === resource.path).map((command) => html`<${CommandForm} command=${command} params=${{}} schemaOf=${schemaOf} />`)}
    </div>
  `
}

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
    <h2>${resource.collection} <${Text} of=${id} /></h2>
    <${Failure} of=${found.failure} />
    ${found.value === undefined ? null : html`<${Code} of=${written(found.value.document)} label="Document" />`}
    ${stream.value === undefined ? null : html`<p><a href=${`#/events/${encodeURIComponent(stream.value)}`}>Its events</a></p>`}
    <div class="commands">
      ${commands
        .filter(({ path }) => path === resource.one)
        .map(
          (
            command,
          ) => html`<${CommandForm} command=${command} params=${{ [resource.parameter]: id }} schemaOf=${schemaOf}
          headers=${found.value?.tag ? { 'if-match': found.value.tag } : {}} onDone=${() => setChanges(changes + 1)} />`,
        )}
    </div>
  `
}
