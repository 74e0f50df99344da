import { useState } from 'preact/hooks'
import { ask } from './api.js'
import { CommandForm } from './form.js'
import { written } from './json.js'
import { List } from './list.js'
import { Code, Failure, h, html, Text, useAnswer } from './parts.js'

/**
 * @import { DocumentList } from '../answers.ts'
 * @import { Command, OpenApi, PageProps, SchemaOf } from './types.ts'
 * @typedef {{ list: DocumentList, commands: readonly Command[], schemaOf: SchemaOf }} Known
 */

/**
 * Every kind of document: browsed, found by id, and changed by the commands of the service.
 * @param {Pick<PageProps, 'path' | 'query'>} props
 */
export function Documents({ path: [name, id], query }) {
  const { value, failure } = useAnswer(async () => {
    const [lists, document] = await Promise.all([ask('console/api/lists'), ask('openapi.json')])
    return { lists: lists.value, ...understood(document.value) }
  }, [])
  if (value === undefined) return html`${h(Failure, { of: failure })}<p>${failure ? '' : 'Asking …'}</p>`
  const { lists, ...known } = value
  const list = lists.find((each) => each.name === name) ?? lists[0]
  if (list === undefined) return html`<p>None.</p>`
  return html`
    <nav class="tabs" aria-label="Kinds of documents">
      ${lists.map((each) => {
        const current = each === list ? 'page' : undefined
        return html`<a href=${`#/documents/${encodeURIComponent(each.name)}`} aria-current=${current}>${each.name}</a>`
      })}
    </nav>
    ${
      id === undefined
        ? h(List, { key: list.path, list, query, ...known })
        : h(One, { key: `${list.path}/${id}`, list, id, ...known })
    }
  `
}

/**
 * What the OpenAPI document says of commands.
 * @param {OpenApi} document
 */
function understood({ paths, components }) {
  /** @type {SchemaOf} */
  const schemaOf = (schema) => {
    if (schema.$ref === undefined) return schema
    const { [schema.$ref.split('/').at(-1) ?? '']: referred = {} } = components.schemas
    return { ...schemaOf(referred), ...schema, $ref: undefined }
  }
  const commands = Object.entries(paths).flatMap(([path, operations]) =>
    /** @type {const} */ (['post', 'patch', 'delete']).flatMap((method) => {
      const { [method]: operation } = operations
      return operation === undefined ? [] : [{ ...operation, path: `v1${path}`, method: method.toUpperCase() }]
    }),
  )
  return { commands, schemaOf }
}

/** @param {Known & { id: string }} props */
function One({ list, id, commands, schemaOf }) {
  const [changes, setChanges] = useState(0)
  const found = useAnswer(
    async () => {
      const { value, headers } = await ask(`${list.path}/${encodeURIComponent(id)}`)
      return { document: value, tag: headers.get('etag') }
    },
    [changes],
    3000,
  )
  const stream = useAnswer(async () => {
    const query = new URLSearchParams({ path: `/${list.path}`, id })
    return (await ask(`console/api/stream-of?${query}`)).value.stream
  }, [])
  return html`
    <h2>${list.name} ${h(Text, { of: id })}</h2>
    ${h(Failure, { of: found.failure })}
    ${found.value === undefined ? null : h(Code, { of: written(found.value.document), label: 'Document' })}
    ${stream.value === undefined ? null : html`<p><a href=${`#/events/${encodeURIComponent(stream.value)}`}>Its events</a></p>`}
    <div class="commands">
      ${commands
        .filter(({ path }) => path === list.one)
        .map((command) =>
          h(CommandForm, {
            ...{ command, params: { [list.parameter]: id }, schemaOf },
            ...(found.value?.tag && { headers: { 'if-match': found.value.tag } }),
            onDone: () => setChanges(changes + 1),
          }),
        )}
    </div>
  `
}
