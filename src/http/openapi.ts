import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { jsonType } from './error-replies.ts'
import { eventAnswerSchemas, eventsTag } from './events.ts'
import { orderSchemas, ordersTag } from './orders.ts'
import { petSchemas, petsTag } from './pets.ts'
import { ErrorSchema } from './schema-parts.ts'

/** The schemas that the document names; wherever one is used it is referred to. */
const named: Readonly<Record<string, object>> = {
  ...petSchemas,
  ...orderSchemas,
  ...eventAnswerSchemas,
  Error: ErrorSchema,
}
const nameByText = new Map(Object.entries(named).map(([name, schema]) => [JSON.stringify(schema), name]))

/** `/openapi.json`, made from the schemas of the routes added after this. */
export async function addOpenApi(app: FastifyInstance, publicUrl: string): Promise<void> {
  const schemas = Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, componentOf(name, schema)]))
  const title = 'Petstore Animals'
  const description = 'A pet store: list its pets, add one, read one; in beta, order them and follow their events.'
  const license = { name: 'MIT', identifier: 'MIT' }
  const contact = { name: 'Petstore Animals', url: `${publicUrl}/docs` }
  const topic = { description: 'The topic, as AsyncAPI', url: `${publicUrl}/asyncapi.json` }
  const apiKey = 'The API key, as `Authorization: Bearer <API key>`'
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title, version: '1.0.0', description, license, contact },
      servers: [{ url: `${publicUrl}/v1` }],
      externalDocs: { description: 'What each error code means', url: `${publicUrl}/docs/errors` },
      tags: [petsTag, ordersTag, { ...eventsTag, externalDocs: topic }],
      components: {
        securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: apiKey } },
        schemas,
      },
    },
    transform: ({ schema = {}, url }) => ({ schema: withReferences(schema), url }),
  })
  let text: string | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    text ??= JSON.stringify(describeParameters(app.swagger() as Document))
    reply.type(jsonType)
    return text
  })
}

/** Opens the schemas of answers: a client must accept members that a later release adds. */
const ofAnswers: ReadonlySet<string> = new Set(['Pet', 'Order', 'Error'])

function componentOf(name: string, schema: object): FastifySchema {
  const component = withReferences(schema)
  return ofAnswers.has(name) ? ({ ...component, additionalProperties: undefined } as FastifySchema) : component
}

interface Described {
  description?: string
  readonly schema?: { readonly $ref?: string }
}
interface Document {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: Described[] }>>>>
}

/** A parameter whose schema is a reference has its description there, and viewers show only its own. */
function describeParameters(document: Document): Document {
  const operations = Object.values(document.paths ?? {}).flatMap((methods) => Object.values(methods))
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
    const schema = named[parameter.schema?.$ref?.split('/').at(-1) ?? '']
    if (schema !== undefined && 'description' in schema) parameter.description ??= String(schema.description)
  }
  return document
}

/** A copy in which every named schema is referred to, but for `whole` itself. */
function withReferences(whole: object): FastifySchema {
  const text = JSON.stringify(whole, (key, part) => {
    const name = key === '' ? undefined : nameByText.get(JSON.stringify(part))
    return name === undefined ? part : { $ref: `#/components/schemas/${name}` }
  })
  return JSON.parse(text)
}
