import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { asyncApiDocument } from '../../definition/asyncapi.ts'
import type { Definition } from '../../definition/definition.ts'
import { jsonType } from '../wire/error-replies.ts'
import { errorsPage, escapeHtml } from './errors-page.ts'
import { hidden, madeOnce } from './made-once.ts'

/** Nothing from another host, no inline script or style; Swagger UI draws its icons from data: URLs. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const html = 'text/html; charset=utf-8'
const css = 'text/css; charset=utf-8'
const javascript = 'text/javascript; charset=utf-8'

/** The files of Swagger UI that the page needs. */
const viewerFiles = {
  'swagger-ui.css': css,
  'swagger-ui-bundle.js': javascript,
  'favicon-32x32.png': 'image/png',
}

/** Our own, beside them. */
const ownFiles = { 'page.css': css, 'page.js': javascript, 'exact-json.js': javascript }

const pageHeaders = { 'content-security-policy': contentSecurityPolicy }

/**
 * `/openapi.json`, made from the schemas of the routes added after this, and `/asyncapi.json`. `/docs` shows the first, and
 * `/` leads there. All addresses in it are relative, so that it works under any prefix that a proxy takes away.
 */
export function addDocs(
  app: FastifyInstance,
  { definition, topic }: { readonly definition: Definition; readonly topic: string | null },
  publicUrl: string,
): void {
  const { service, errors } = definition
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => void routes.push(route))
  const writeDocument = async () => {
    const { openApiDocument } = await import('./openapi-document.ts')
    return await openApiDocument(routes, publicUrl, definition)
  }
  app.get('/openapi.json', hidden, madeOnce(jsonType, writeDocument))
  app.get(
    '/asyncapi.json',
    hidden,
    madeOnce(jsonType, () => JSON.stringify(asyncApiDocument(definition, topic))),
  )
  for (const [url, docs] of Object.entries({ '/': 'docs', '/docs/': '../docs' })) {
    app.get(url, hidden, (_request, reply) => reply.redirect(docs))
  }
  const { resolve } = createRequire(import.meta.url)
  const page = (url: string, type: string, read: () => string | Buffer) =>
    app.get(url, hidden, madeOnce(type, read, pageHeaders))
  const ownFile = (name: string) => readFileSync(new URL(`docs-page/${name}`, import.meta.url))
  page('/docs', html, () => ownFile('index.html').toString().replace('%title%', escapeHtml(service.title)))
  page('/docs/errors', html, () => errorsPage(service.title, errors))
  for (const [name, type] of Object.entries(ownFiles)) page(`/docs/static/${name}`, type, () => ownFile(name))
  for (const [name, type] of Object.entries(viewerFiles)) {
    page(`/docs/static/${name}`, type, () => readFileSync(resolve(`@fastify/swagger-ui/static/${name}`)))
  }
}
