import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { FastifyInstance } from 'fastify'
import type { Definition } from '../definition/definition.ts'
import { errorsPage, escapeHtml } from './errors-page.ts'

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

/**
 * `/docs` shows `/openapi.json`, and `/` leads there. All addresses in it are relative, so that it works under any prefix
 * that a proxy takes away. Each file is read when it is first asked for, and kept in memory: later requests cost no file
 * descriptor.
 */
export function addDocs(app: FastifyInstance, { service: { title }, errors }: Definition): void {
  const { resolve } = createRequire(import.meta.url)
  const ownFile = (name: string) => readFileSync(new URL(`docs-page/${name}`, import.meta.url))
  function serve(url: string, type: string, read: () => string | Buffer): void {
    let content: string | Buffer | undefined
    app.get(url, { schema: { hide: true } }, async (_request, reply) => {
      reply.type(type).headers({ 'content-security-policy': contentSecurityPolicy, 'cache-control': 'max-age=3600' })
      content ??= read()
      return content
    })
  }
  for (const [url, docs] of Object.entries({ '/': 'docs', '/docs/': '../docs' })) {
    app.get(url, { schema: { hide: true } }, (_request, reply) => reply.redirect(docs))
  }
  serve('/docs', html, () => ownFile('index.html').toString().replace('%title%', escapeHtml(title)))
  serve('/docs/errors', html, () => errorsPage(title, errors))
  for (const [name, type] of Object.entries(ownFiles)) serve(`/docs/static/${name}`, type, () => ownFile(name))
  for (const [name, type] of Object.entries(viewerFiles)) {
    serve(`/docs/static/${name}`, type, () => readFileSync(resolve(`@fastify/swagger-ui/static/${name}`)))
  }
}
