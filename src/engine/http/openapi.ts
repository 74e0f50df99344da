import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import type { ErrorTable } from '../definition/errors.ts'
import { referringTo } from '../lib/named-schemas.ts'
import { jsonType } from './error-replies.ts'
import { eventAnswerSchemas, eventsTag } from './events.ts'
import { cursorForm } from './header-schemas.ts'
import { orderSchemas, ordersTag } from '../../store/orders.ts'
import { petSchemas, petsTag } from '../../store/pets.ts'
import { ErrorCodeSchema, ErrorSchema } from './schema-parts.ts'

/** The schemas that the document names; wherever one is used it is referred to (decision 0052 has the rule for names). */
const named: Readonly<Record<string, object>> = {
  ...petSchemas,
  ...orderSchemas,
  ...eventAnswerSchemas,
  Error: ErrorSchema,
  ErrorCode: ErrorCodeSchema,
}
const withReferences = referringTo(named)

/** `/openapi.json`, made from the schemas of the routes added after this. */
export async function addOpenApi(app: FastifyInstance, publicUrl: string, errors: ErrorTable): Promise<void> {
  const schemas = Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, componentOf(name, schema)]))
  schemas.ErrorCode = { enum: [...errors.keys()], ...schemas.ErrorCode }
  const title = 'Petstore Animals'
  const description = 'A pet store: list its pets, add one, read one; in beta, order them and follow their events.'
  const license = { name: 'MIT', identifier: 'MIT' }
  const apiKey = 'The API key, as `Authorization: Bearer <API key>`'
  // Generators refuse these addresses if they are relative.
  const linked = <Link>(link: Link) => (publicUrl === '' ? {} : link)
  const docs = (description: string, path: string) => linked({ externalDocs: { description, url: publicUrl + path } })
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title,
        version: '1.0.0',
        description,
        license,
        contact: { name: title, ...linked({ url: `${publicUrl}/docs` }) },
      },
      servers: [{ url: `${publicUrl}/v1` }],
      ...docs('What each error code means', '/docs/errors'),
      tags: [petsTag, ordersTag, { ...eventsTag, ...docs('The topic, as AsyncAPI', '/asyncapi.json') }],
      components: {
        securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: apiKey } },
        schemas,
      },
    },
    transform: ({ schema = {}, url }) => ({ schema: withReferences(schema), url }),
  })
  let text: string | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    text ??= JSON.stringify(completeParameters(app.swagger() as Document))
    reply.type(jsonType)
    return text
  })
}

const ofRequests: ReadonlySet<string> = new Set(['PetInput', 'OrderInput', 'OrderChange'])

/** Answers may have more members in a later release. Generators that are not told make clients that refuse those. */
function componentOf(name: string, schema: object): object {
  const open = 'properties' in schema && !ofRequests.has(name) ? { additionalProperties: true } : {}
  return { ...withReferences(schema), title: name, ...open }
}

interface Parameter {
  readonly name: string
  description?: string
  readonly schema?: { readonly $ref?: string }
}
interface Document {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: Parameter[] }>>>>
}

/**
 * A parameter whose schema is a reference has its description there, and viewers show only its own. A cursor has its form
 * here alone: a request with another one is refused where it is read, by a code of its own.
 */
function completeParameters(document: Document): Document {
  const operations = Object.values(document.paths ?? {}).flatMap((methods) => Object.values(methods))
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
    const schema = named[parameter.schema?.$ref?.split('/').at(-1) ?? '']
    if (schema !== undefined && 'description' in schema) parameter.description ??= String(schema.description)
    if (parameter.name === 'cursor') Object.assign(parameter.schema ?? {}, cursorForm)
  }
  return document
}
