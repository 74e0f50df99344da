import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Definition } from '../definition/definition.ts'
import { jsonType } from './error-replies.ts'

/** `/openapi.json`, made from the schemas of the routes added after this, when it is first asked for. */
export function addOpenApi(app: FastifyInstance, publicUrl: string, definition: Definition): void {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => void routes.push(route))
  let text: string | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    const { openApiDocument } = await import('./openapi-document.ts')
    text ??= await openApiDocument(routes, publicUrl, definition)
    reply.type(jsonType)
    return text
  })
}
