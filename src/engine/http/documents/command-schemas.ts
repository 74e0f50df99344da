import type { FastifySchema } from 'fastify'
import type { TSchema } from 'typebox'
import { exampleOf, requiredOf } from '../../definition/body-example.ts'
import type { Definition } from '../../definition/definition.ts'
import type { NamedResource } from '../../definition/kinds.ts'
import type { CommandRoute } from '../../door/command.ts'
import { parseExactJson } from '../../lib/values/exact-json.ts'
import { patchTypes, unsupportedType } from '../values/request-values.ts'
import * as fields from './header-schemas.ts'
import * as doc from './schema-parts.ts'

type Route = CommandRoute<unknown>

/** What the document says of a command, and what requests are checked by. */
export function commandSchema(definition: Definition, route: Route, resource: NamedResource): FastifySchema {
  const { method, body, on, creates, key, texts } = route
  const isOfDocument = typeof on === 'object' && 'document' in on
  const awaited = on === 'new' ? `the ${resource.noun} can be read` : undefined
  return {
    ...doc.operation(resource, texts),
    ...(isOfDocument ? { params: doc.idParameter(resource) } : {}),
    headers: fields.headers({
      ...(key === undefined ? {} : fields.requestHeaders.idempotencyKey(key.text)),
      ...(isOfDocument ? fields.requestHeaders.ifMatch : {}),
      ...fields.requestHeaders.consistency(awaited),
    }),
    ...(body === undefined ? {} : { body }),
    ...(method === 'PATCH' ? { consumes: patchTypes } : {}),
    response: {
      ...(body === undefined ? doc.anyWrite : doc.anyCommand),
      ...(creates === undefined ? changed(route, resource) : created(route, resource)),
      400: body === undefined ? doc.invalidId(resource) : doc.invalid(`body: ${problemOf(body)}`),
      ...(key === undefined ? {} : { 422: keyReused }),
      ...errorResponses(definition, route),
    },
  } as FastifySchema
}

const keyReused = doc.error(
  'This key was used for another request',
  'idempotency_key_reused',
  'This Idempotency-Key was already used for a different request.',
)

const isReadable = (noun: string) =>
  `\`?1\` if the ${noun} can be read now, \`?0\` if not yet; absent with an Idempotency-Key`

function created({ on, texts, key, body }: Route, { noun, path, schema, example }: NamedResource) {
  const address = `${path}/${doc.idOf(example)}`
  const readable = fields.header({ pattern: String.raw`^\?[01]$` }, isReadable(noun), '?1')
  const headers = fields.createdHeaders(noun, address, on === 'new' ? { 'Read-Model-Applied': readable } : {})
  const asked = body && exampleOf(body)
  const first = key && parseExactJson(key.again({ id: doc.idOf(example), time: exampleTime }, asked))
  return {
    201: doc.answer(texts.answer ?? `The new ${noun}`, schema, first ?? example, headers),
    504: doc.outcomeUnknownAnswer(noun, on === 'new' ? {} : fields.location(`${noun} that may exist`, address)),
  }
}

const exampleTime = '2026-11-20T09:30:00.000Z'

function changed({ method, texts }: Route, { noun, schema, example }: NamedResource) {
  const isOther = 'header: If-Match does not have the entity tag of the present state'
  const isNeither = `Body is neither ${patchTypes.join(' nor ')}`
  const unsupported = doc.error(isNeither, 'unsupported_media_type', unsupportedType(method))
  const accepted = fields.header({}, 'Media types that the body may have', patchTypes.join(', '))
  const shown = doc.answer(texts.answer ?? `The changed ${noun}`, schema, example, fields.commandHeaders('change'))
  const removed = {
    type: 'null',
    description: texts.answer ?? `The ${noun} is removed`,
    headers: fields.removedHeaders,
  }
  return {
    ...(method === 'DELETE' ? { 204: removed } : { 200: shown }),
    404: doc.notFoundAnswer(noun, doc.idOf(example)),
    412: doc.error(`The ${noun} is not in a state that \`If-Match\` names`, 'precondition_failed', isOther),
    ...(method === 'PATCH'
      ? { 415: { ...unsupported, headers: { ...unsupported.headers, 'Accept-Patch': accepted } } }
      : {}),
    504: doc.outcomeUnknownAnswer('change'),
  }
}

/** One answer for all codes that have a status, with the message of the first. */
function errorResponses({ errors }: Definition, { rejects }: Route) {
  const known = Object.entries(rejects).flatMap(([code, message]) => {
    const facts = errors.get(code)
    return facts === undefined ? [] : { code, message, ...facts }
  })
  const byStatus = Map.groupBy(known, ({ status }) => status)
  return Object.fromEntries(
    [...byStatus].map(([status, all]) => {
      const meanings = all.map(({ meaning }) => meaning).join(' Or: ')
      const [{ code, message } = { code: '', message: '' }] = all
      return [status, doc.errorsOf({ [code]: { status } })(meanings, code, message)]
    }),
  )
}

function problemOf(body: TSchema): string {
  const [first] = requiredOf(body)
  return first === undefined ? 'the value must have at least one member' : `${first} is required`
}
