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
export async function addOpenApi(app: FastifyInstance): Promise<void> {
  const schemas = Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, withReferences(schema)]))
  const title = 'Petstore Animals'
  const description = 'A pet store: list its pets, add one, read one; and, in beta, order them.'
  const apiKey = 'The API key, as `Authorization: Bearer <API key>`'
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title, version: '1.0.0', description },
      servers: [{ url: '/v1' }],
      tags: [petsTag, ordersTag, eventsTag],
      components: {
        securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: apiKey } },
        schemas,
      },
    },
    transform: ({ schema = {}, url }) => ({ schema: withReferences(schema), url }),
  })
  let text: string | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    text ??= JSON.stringify(app.swagger())
    reply.type(jsonType)
    return text
  })
}

/** A copy in which every named schema is referred to, but for `whole` itself. */
function withReferences(whole: object): FastifySchema {
  const text = JSON.stringify(whole, (key, part) => {
    const name = key === '' ? undefined : nameByText.get(JSON.stringify(part))
    return name === undefined ? part : { $ref: `#/components/schemas/${name}` }
  })
  return JSON.parse(text)
}
