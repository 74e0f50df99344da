import { useState } from 'preact/hooks'
import { ask } from './api.js'
import { written } from './json.js'
import { Code, Failure, html } from './parts.js'

/** A form made from the schema of a command's body. Sends it, and shows the answer. */
export function CommandForm({ command, params, schemaOf, headers, onDone }) {
  const [answer, setAnswer] = useState()
  const [failure, setFailure] = useState()
  const [isBusy, setBusy] = useState(false)
  const body = schemaOf(command.requestBody?.content['application/json']?.schema)
  const path = command.path.replaceAll(/\{(\w+)\}/g, (_whole, name) => encodeURIComponent(params[name]))
  async function send(submitted) {
    submitted.preventDefault()
    setBusy(true)
    setFailure(undefined)
    setAnswer(undefined)
    try {
      const text = body && bodyOf(body, new FormData(submitted.target), schemaOf)
      const { value, status } = await ask(path, { method: command.method, body: text, headers })
      setAnswer({ status, value })
      onDone?.(value)
    } catch (raised) {
      setFailure(raised)
    }
    setBusy(false)
  }
  return html`<form class="command" onSubmit=${send} aria-label=${command.summary}>
    <h3>${command.summary}</h3>
    ${Object.entries(body?.properties ?? {}).map(
      ([name, property]) =>
        html`<${Field} name=${name} schema=${schemaOf(property)} isRequired=${body.required?.includes(name)} />`,
    )}
    ${command.method === 'DELETE' ? html`<label><input type="checkbox" required /> It cannot be undone.</label>` : null}
    <button disabled=${isBusy}>${command.method} /${path}</button>
    <${Failure} of=${failure} />
    ${answer === undefined ? null : html`<div role="status"><p class="good">${answer.status}</p><${Code} of=${answer.value === '' ? 'Done.' : written(answer.value)} label="Answer" /></div>`}
  </form>`
}

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

/** JSON text. What is left empty is left out; an integer is sent digit for digit. */
function bodyOf({ properties }, entered, schemaOf) {
  const members = Object.entries(properties).flatMap(([name, property]) => {
    const text = entered.get(name)
    if (text === '') return []
    const isInteger = typesOf(schemaOf(property)).includes('integer') && /^-?\d+$/.test(text)
    return [`${JSON.stringify(name)}:${isInteger ? text : JSON.stringify(text)}`]
  })
  return `{${members}}`
}

function typesOf({ type = [] }) {
  return [type].flat()
}

/** What an enumeration allows. */
export function valuesOf({ enum: values, anyOf = [] }) {
  if (values !== undefined) return values
  const constants = anyOf.flatMap((each) => each.const ?? [])
  return anyOf.length > 0 && constants.length === anyOf.length ? constants : undefined
}
