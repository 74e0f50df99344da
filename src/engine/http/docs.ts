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
 * that a proxy takes away. All of it is kept in memory: a request costs no file descriptor.
 */
export function addDocs(app: FastifyInstance): void {
  const { resolve } = createRequire(import.meta.url)
  const ownFile = (name: string) => readFileSync(new URL(`docs-page/${name}`, import.meta.url))
  function serve(url: string, type: string, content: string | Buffer): void {
    app.get(url, { schema: { hide: true } }, async (_request, reply) => {
      reply.type(type).headers({ 'content-security-policy': contentSecurityPolicy, 'cache-control': 'max-age=3600' })
      return content
    })
  }
  for (const [url, docs] of Object.entries({ '/': 'docs', '/docs/': '../docs' })) {
    app.get(url, { schema: { hide: true } }, (_request, reply) => reply.redirect(docs))
  }
  serve('/docs', html, ownFile('index.html'))
  serve('/docs/errors', html, errorsPage())
  for (const [name, type] of Object.entries(ownFiles)) serve(`/docs/static/${name}`, type, ownFile(name))
  for (const [name, type] of Object.entries(viewerFiles)) {
    serve(`/docs/static/${name}`, type, readFileSync(resolve(`@fastify/swagger-ui/static/${name}`)))
  }
}

/** A row of the table in docs/errors.md: code, status, retry, effect, meaning. */
const row = /^\| `(\w+)` \| (\d+) \| ([^|]*) \| ([^|]*) \| (.*) \|$/gm

/** The table of docs/errors.md as a page, with an anchor for each code. */
function errorsPage(): string {
  const text = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
  const entries = [...text.matchAll(row)].map(([, code = '', status, retry, effect, meaning = '']) =>
    [
      `<dt id="${code}"><a href="#${code}"><code>${code}</code></a></dt>`,
      `<dd>${toHtml(meaning)}<br>Status ${status}. Retry: ${retry}. Effect: ${effect}.</dd>`,
    ].join('\n'),
  )
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors of Petstore Animals</title>
<link rel="stylesheet" href="static/page.css">
<link rel="icon" type="image/png" href="static/favicon-32x32.png">
</head>
<body class="errors-page">
<p><a href="../docs">Operations</a></p>
<h1>Errors</h1>
<p>Every error answer has the body <code>{"code", "message", "status"}</code>. Program against <code>code</code>:
codes are stable, messages are for people and change. Retry tells whether the same request, unchanged, can succeed later.
Effect tells whether this request changed anything: <code>none</code>, <code>stored</code>, or <code>unknown</code>.</p>
<dl>
${entries.join('\n')}
</dl>
</body>
</html>
`
}

/** Markdown as the table has it: text and code. */
function toHtml(markdown: string): string {
  const escaped = markdown.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return escaped.replace(/`([^`]+)`/g, '<code>$1</code>')
}
