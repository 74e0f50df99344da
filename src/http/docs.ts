import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { FastifyInstance } from 'fastify'

/** Nothing from another host, no inline script or style; Swagger UI draws its icons from data: URLs. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const html = 'text/html; charset=utf-8'
const css = 'text/css; charset=utf-8'
const javascript = 'text/javascript; charset=utf-8'

const page = `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Petstore Animals</title>
    <link rel="stylesheet" href="/docs/static/swagger-ui.css">
    <link rel="icon" type="image/png" href="/docs/static/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/static/swagger-ui-bundle.js"></script>
    <script src="/docs/static/swagger-initializer.js"></script>
  </body>
</html>
`

/** `validatorUrl`: else a badge is fetched from elsewhere. The other layout applies an inline style. */
const initializer = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  layout: 'BaseLayout',
  deepLinking: true,
  validatorUrl: null,
})
`

/** The files of Swagger UI that the page needs. */
const files = {
  'swagger-ui.css': css,
  'swagger-ui-bundle.js': javascript,
  'favicon-32x32.png': 'image/png',
}

/** `/docs` shows `/openapi.json`. All of it is kept in memory: a request costs no file descriptor. */
export function addDocs(app: FastifyInstance): void {
  const { resolve } = createRequire(import.meta.url)
  function serve(url: string, type: string, content: string | Buffer): void {
    app.get(url, { schema: { hide: true } }, async (_request, reply) => {
      reply.type(type).headers({ 'content-security-policy': contentSecurityPolicy, 'cache-control': 'max-age=3600' })
      return content
    })
  }
  serve('/docs', html, page)
  serve('/docs/static/swagger-initializer.js', javascript, initializer)
  for (const [name, type] of Object.entries(files)) {
    serve(`/docs/static/${name}`, type, readFileSync(resolve(`@fastify/swagger-ui/static/${name}`)))
  }
}
