import { useState } from 'preact/hooks'
import { ask } from './api.js'
import { written } from './json.js'
import { Code, Failure, h, html, useFailure } from './parts.js'

/** @import { Command, Schema, SchemaOf, Submitted } from './types.ts' */

/**
 * A form made from the schema of a command's body. Sends it, and shows the answer.
 * @param {{
 *   command: Command, params: Readonly<Record<string, string>>, schemaOf: SchemaOf,
 *   headers?: Record<string, string>, onDone?: () => void
 * }} props
 */
export function CommandForm({ command, params, schemaOf, headers, onDone }) {
  const [answer, setAnswer] = useState(/** @type {{ status: number, value: unknown } | undefined} */ (undefined))
  const [failure, setFailure] = useFailure()
  const [isBusy, setBusy] = useState(false)
  const schema = command.requestBody?.content['application/json']?.schema
  const body = schema && schemaOf(schema)
  const path = command.path.replaceAll(/\{(\w+)\}/g, (_whole, name) => encodeURIComponent(params[name] ?? ''))
  /** @param {Submitted} submitted */
  async function send(submitted) {
    submitted.preventDefault()
    setBusy(true)
    setFailure(undefined)
    setAnswer(undefined)
    try {
      const text = body && bodyOf(body, new FormData(submitted.currentTarget), schemaOf)
      const { value, status } = await ask(path, { method: command.method, body: text, ...(headers && { headers }) })
      setAnswer({ status, value })
      onDone?.()
    } catch (raised) {
      setFailure(raised)
    }
    setBusy(false)
  }
  return html`<form class="command" onSubmit=${send} aria-label=${command.summary}>
    <h3>${command.summary}</h3>
    ${Object.entries(body?.properties ?? {}).map(([name, property]) =>
      h(Field, { name, schema: schemaOf(property), isRequired: body?.required?.includes(name) ?? false }),
    )}
    ${command.method === 'DELETE' ? html`<label><input type="checkbox" required /> It cannot be undone.</label>` : null}
    <button disabled=${isBusy}>${command.method} /${path}</button>
    ${h(Failure, { of: failure })}
    ${answer === undefined ? null : html`<div role="status"><p class="good">${answer.status}</p>${h(Code, { of: answer.value === '' ? 'Done.' : written(answer.value), label: 'Answer' })}</div>`}
  </form>`
}

/** @param {{ name: string, schema: Schema, isRequired: boolean }} props */
function Field({ name, schema, isRequired }) {
  const values = valuesOf(schema)
  const label = `${name}${isRequired ? '' : ', optional'}`
  if (values !== undefined) {
    return html`<label>${label} <select name=${name} required=${isRequired}>
      ${isRequired ? null : html`<option value=""></option>`}${values.map((value) => html`<option>${value}</option>`)}
    </select></label>`
  }
  const isInteger = typesOf(schema).includes('integer')
  return html`<label>${label} <input name=${name} required=${isRequired} inputmode=${isInteger ? 'numeric' : 'text'} title=${schema.description ?? ''} /></label>`
}

/**
 * JSON text. What is left empty is left out; an integer is sent digit for digit.
 * @param {Schema} body
 * @param {FormData} entered
 * @param {SchemaOf} schemaOf
 */
function bodyOf({ properties = {} }, entered, schemaOf) {
  const members = Object.entries(properties).flatMap(([name, property]) => {
    const text = String(entered.get(name) ?? '')
    if (text === '') return []
    const isInteger = typesOf(schemaOf(property)).includes('integer') && /^-?\d+$/.test(text)
    return [`${JSON.stringify(name)}:${isInteger ? text : JSON.stringify(text)}`]
  })
  return `{${members}}`
}

/** @param {Schema} schema */
function typesOf({ type = [] }) {
  return [type].flat()
}

/**
 * What an enumeration allows.
 * @param {Schema} schema
 */
export function valuesOf({ enum: values, anyOf = [] }) {
  if (values !== undefined) return values
  const constants = anyOf.flatMap((each) => each.const ?? [])
  return anyOf.length > 0 && constants.length === anyOf.length ? constants : undefined
}
