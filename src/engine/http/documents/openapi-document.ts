import swagger from '@fastify/swagger'
import Fastify, { type RouteOptions } from 'fastify'
import type { Definition } from '../../definition/definition.ts'
import { referringTo, titledIn, titleOf } from '../../lib/values/named-schemas.ts'
import { eventsTag, namedEventSchemas } from './event-route-schemas.ts'
import { cursorForm } from './header-schemas.ts'
import { countSchema, listSchema } from './list-schemas.ts'
import { ErrorCodeSchema, ErrorSchema } from './schema-parts.ts'

type Named = Readonly<Record<string, object>>

/** The schemas that the document names; wherever one is used it is referred to (decision 0040 has the rule for names). */
function namedSchemas(definition: Definition): Named {
  const { resources, commands } = definition
  const lists = resources.map((resource) => listSchema(resource))
  return {
    ...titledIn([
      ...lists.map(({ response, querystring }) => [response[200].content, querystring]),
      ...resources.flatMap((resource) => {
        if (resource.count === undefined) return []
        return [countSchema(resource, resource.count).response[200].content]
      }),
      ...commands.map(({ body }) => body),
    ]),
    ...namedEventSchemas(definition),
    Error: ErrorSchema,
    ErrorCode: ErrorCodeSchema,
  }
}

/** The OpenAPI document of the routes, as JSON text. */
export async function openApiDocument(
  routes: readonly RouteOptions[],
  publicUrl: string,
  definition: Definition,
): Promise<string> {
  const { service, resources, errors, commands } = definition
  const named = namedSchemas(definition)
  const withReferences = referringTo(named)
  const closed = new Set(commands.map(({ body }) => titleOf(body ?? {})))
  const schemas: Record<string, object> = Object.fromEntries(
    Object.entries(named).map(([name, schema]) => {
      const open = 'properties' in schema && !closed.has(name) ? isOpen : {}
      return [name, { ...withReferences(schema), title: name, ...open }]
    }),
  )
  const retryable = [...errors].flatMap(([code, { retry }]) => (retry === 'no' || retry === 'later' ? [] : [code]))
  schemas.ErrorCode = { enum: [...errors.keys()], 'x-retryable': retryable, ...schemas.ErrorCode }
  const { title, version, description } = service
  const tags = [...new Map(resources.map(({ tag }) => [tag.name, tag])).values()]
  const license = { name: 'MIT', identifier: 'MIT' }
  const apiKey = 'The API key, as `Authorization: Bearer <API key>`'
  // Generators refuse these addresses if they are relative.
  const linked = <Link>(link: Link) => (publicUrl === '' ? {} : link)
  const docs = (description: string, path: string) => linked({ externalDocs: { description, url: publicUrl + path } })
  // @fastify/swagger looks at the routes of a server while they are added.
  const app = Fastify({
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: () => unused, buildSerializer: () => unused } },
  })
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title,
        version,
        description,
        license,
        contact: { name: title, ...linked({ url: `${publicUrl}/docs` }) },
      },
      servers: [{ url: `${publicUrl}/v1` }],
      ...docs('What each error code means', '/docs/errors'),
      tags: [...tags, { ...eventsTag, ...docs('The topic, as AsyncAPI', '/asyncapi.json') }],
      components: {
        securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: apiKey } },
        schemas,
      },
    },
    transform: ({ schema = {}, url }) => ({ schema: withReferences(schema), url }),
  })
  for (const { method, url, schema } of routes) app.route({ method, url, ...(schema && { schema }), handler: unused })
  await app.ready()
  return JSON.stringify(completeParameters(app.swagger() as Document, named))
}

/** No request is checked or answered. */
const unused = () => () => ''

/** Answers may have more members in a later release. Generators that are not told make clients that refuse those. */
const isOpen = { additionalProperties: true }

interface Parameter {
  readonly name: string
  description?: string
  readonly schema?: { readonly $ref?: string; readonly style?: string; readonly explode?: boolean }
}
interface Document {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: Parameter[] }>>>>
}

/**
 * A parameter whose schema is a reference has its description there, and viewers show only its own. A cursor has its form
 * here alone: a request with another one is refused where it is read, by a code of its own.
 */
function completeParameters(document: Document, named: Named): Document {
  const operations = Object.values(document.paths ?? {}).flatMap((methods) => Object.values(methods))
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
    const schema = named[parameter.schema?.$ref?.split('/').at(-1) ?? '']
    if (schema !== undefined && 'description' in schema) parameter.description ??= String(schema.description)
    if (parameter.name === 'cursor') Object.assign(parameter.schema ?? {}, cursorForm)
    const { style, explode, ...rest } = parameter.schema ?? {}
    // How a list is written in a query stands beside its schema.
    if (style !== undefined) Object.assign(parameter, { style, explode, schema: rest })
  }
  return document
}
