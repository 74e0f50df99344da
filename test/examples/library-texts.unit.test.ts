import { expect, it } from 'vitest'
import { library } from '../../examples/loans/library.ts'
import { define } from '../../src/engine/definition/definition.ts'
import { shownTexts, type Texts } from '../lib/shown-texts.ts'

/** What people read of a document: its titles, summaries and descriptions, each once. */
function wordsOf(document: string): string {
  const words = new Set<string>()
  JSON.parse(document, (name, value) => {
    if (/^(title|summary|description)$/.test(name) && typeof value === 'string') words.add(value)
    return value
  })
  return [...words].join('\n')
}

/** What an answer says, without its headers. */
function bodyOf(texts: Texts, path: string): string {
  return (texts.get(`GET ${path}`) ?? '').split('\n').slice(0, -2).join('\n')
}

/** What differs from start to start, and from machine to machine. */
function withoutPlace(text: string): string {
  return text
    .replaceAll(/(?<=KEY=)library_\S+/g, '<key>')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
    .replaceAll(/[^\s=('"]*\/shown-texts-\w+/g, '<folder>')
    .replaceAll(/(?:npm run --silent \S+ --|\S*node '?\S+)(?= keys| parked| rebuild| verify)/g, '<command>')
}

it('what users and operators of the library read is as recorded', { timeout: 120_000 }, async () => {
  const texts = await shownTexts(define(library.service))
  const helps = [...texts].filter(([where]) => where.startsWith('command ') && where.endsWith('--help'))
  const metrics = bodyOf(texts, '/metrics').match(/^# HELP library_.*$/gm) ?? []
  const read = [
    texts.get('banner') ?? '',
    texts.get('names of topics and keys') ?? '',
    ...helps.map(([where, text]) => `== ${where}\n${text}`),
    `== metrics\n${metrics.join('\n')}`,
    ...['/openapi.json', '/asyncapi.json'].map((path) => `== ${path}\n${wordsOf(bodyOf(texts, path))}`),
  ]
  await expect(`${withoutPlace(read.join('\n'))}\n`).toMatchFileSnapshot('recorded/library/shown-texts.txt')
})
