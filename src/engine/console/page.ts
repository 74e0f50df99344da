import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { escapeHtml } from '../http/documents/errors-page.ts'
import { hidden, madeOnce } from '../http/documents/made-once.ts'

const html = 'text/html; charset=utf-8'
const css = 'text/css; charset=utf-8'
const javascript = 'text/javascript; charset=utf-8'

/** In `page/`: no file is made of others. */
const ownFiles = {
  'console.css': css,
  ...Object.fromEntries(
    [
      'main',
      'api',
      'json',
      'refused',
      'parts',
      'plot',
      'overview',
      'published',
      'pipeline',
      'events',
      'kinds',
      'latest',
      'event-list',
      'parked',
      'documents',
      'list',
      'filters',
      'together',
      'form',
    ].map((name) => [`${name}.js`, javascript] as const),
  ),
}

/** From packages, as they are there. */
const packageFiles = {
  'preact.mjs': ['preact', javascript],
  'hooks.mjs': ['preact/hooks', javascript],
  'htm.module.js': ['htm', javascript],
  'uPlot.iife.min.js': ['uplot/dist/uPlot.iife.min.js', javascript],
  'uPlot.min.css': ['uplot/dist/uPlot.min.css', css],
} as const

/**
 * `/console`, and its files under `/console/static`. All addresses in them are relative, so that they work under any prefix
 * that a proxy takes away.
 */
export function addPage(app: FastifyInstance, title: string): void {
  const ownFile = (name: string) => readFileSync(new URL(`page/${name}`, import.meta.url))
  const serve = (name: string, type: string, read: () => Buffer) =>
    app.get(`/console/static/${name}`, hidden, madeOnce(type, read))
  const page = ownFile('index.html').toString().replaceAll('%title%', escapeHtml(title))
  const policy = { 'content-security-policy': policyOf(page) }
  app.get(
    '/console',
    hidden,
    madeOnce(html, () => page, policy),
  )
  app.get('/console/', hidden, (_request, reply) => reply.redirect('../console'))
  for (const [name, type] of Object.entries(ownFiles)) serve(name, type, () => ownFile(name))
  for (const [name, [file, type]] of Object.entries(packageFiles)) {
    serve(name, type, () => readFileSync(new URL(import.meta.resolve(file))))
  }
}

/** Nothing from another host, no style and no script in the page but the one that says where packages are. */
function policyOf(page: string): string {
  const [, imports = ''] = /<script type="importmap">(.*?)<\/script>/s.exec(page) ?? []
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash('sha256', imports, 'base64')}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
