import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { vi } from 'vitest'
import { banner } from '../../src/engine/app/banner.ts'
import { readConfig } from '../../src/engine/app/config.ts'
import { startService } from '../../src/engine/app/service.ts'
import type { Definition } from '../../src/engine/definition/definition.ts'
import { runCommands } from './run-commands.ts'

/** Each by where it was seen. */
export type Texts = Map<string, string>

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: object }>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, object>> }>>
}

/**
 * Everything that users and operators of a service look at, found as they find it: the log and the banner of a start, each
 * page and what it leads to, each operation that the document has, answers of the console, and each command with its help.
 */
export async function shownTexts(definition: Definition): Promise<Texts> {
  const texts: Texts = new Map()
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'shown-texts-'))
  const config = readConfig(definition, { DATA_DIR, PORT: '0' })
  const logger = pino({ level: 'trace' }, { write: (line: string) => void add(texts, 'log', line) })
  const service = await startService(definition, config, logger, { lost: 0, warnings: [] })
  try {
    await vi.waitFor(async () => (await fetch(`${service.url}/readyz`)).ok || Promise.reject(new Error('not ready')))
    add(texts, 'banner', banner(definition, service, config))
    add(texts, 'banner', banner(definition, { ...service, issuedKey: undefined }, config))
    const ask = asker(texts, service.url, service.issuedKey ?? '')
    await walk(ask, ['/', '/docs', '/docs/errors', '/console', '/livez', '/readyz', '/metrics', '/asyncapi.json'])
    await callAll(ask, JSON.parse(await ask('/openapi.json')))
    await askConsole(ask, texts)
    await runAll(texts, definition, { DATA_DIR })
  } finally {
    await service.close()
    await rm(DATA_DIR, { recursive: true })
  }
  const brokers = { KAFKA_BROKERS: 'kafka:9092', REDIS_URL: 'redis://redis' }
  add(texts, 'names of topics and keys', JSON.stringify(readConfig(definition, brokers).brokers))
  return texts
}

function add(texts: Texts, where: string, text: string): void {
  texts.set(where, `${texts.get(where) ?? ''}${text}\n`)
}

type Ask = (path: string, options?: RequestInit, isKnown?: boolean) => Promise<string>

/** Also notes the headers. A stream of events is not read. */
function asker(texts: Texts, url: string, key: string): Ask {
  return async (path, { headers, ...options } = {}, isKnown = true) => {
    const authorization = isKnown ? { authorization: `Bearer ${key}` } : undefined
    const answer = await fetch(url + path, { ...options, headers: { ...authorization, ...headers } })
    const isStream = answer.headers.get('content-type') === 'text/event-stream'
    if (isStream) await answer.body?.cancel()
    const text = isStream ? '' : await answer.text()
    const where = `${options.method ?? 'GET'} ${path}`
    if (isOwn(path)) add(texts, where, `${text}\n${JSON.stringify([...answer.headers])}`)
    return text
  }
}

/** Whether the service itself has it, and no package. */
const isOwn = (path: string) => !/swagger|preact|hooks\.mjs|htm\.module|uPlot/.test(path)

/** Asks for each page, and for what it links to and loads. */
async function walk(ask: Ask, from: readonly string[]): Promise<void> {
  const seen = new Set(from)
  for (const path of seen) {
    const text = isOwn(path) ? await ask(path) : ''
    if (!/\.js$|^\/[a-z/]*$/.test(path)) continue
    const links = [...text.matchAll(/(?:href|src)="([^"#:]+)|from '(\.[^']+)'/g)].map(
      ([, link, module]) => link ?? module,
    )
    for (const link of links) seen.add(new URL(link ?? '', `http://a${path}`).pathname)
  }
}

/** Each operation: as its example has it, twice; of what is not there; without a key, and with a body that is none. */
async function callAll(ask: Ask, { paths }: OpenApi): Promise<void> {
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { requestBody }] of Object.entries(operations)) {
      const at = (id: string) => `/v1${path.replaceAll(/\{\w+\}/g, id)}`
      const example = Object.values(requestBody?.content ?? {})[0]?.example ?? {}
      const isGet = method === 'get' || method === 'delete'
      const send = (body: string) => ({
        method: method.toUpperCase(),
        ...(!isGet && { body, headers: { 'content-type': 'application/json' } }),
      })
      for (const id of ['1', '10001', 'none']) await ask(at(id), send(JSON.stringify(example)))
      await ask(at('1'), send(JSON.stringify(example)), false)
      for (const body of ['', '{}', '[]', '{"none":1}']) await ask(at('1'), send(body))
      await ask(`${at('1')}?none=1`, send('{}'))
    }
  }
  await ask('/v1/none')
}

/** All that the scripts of the page ask for. */
async function askConsole(ask: Ask, texts: Texts): Promise<void> {
  const scripts = [...texts].flatMap(([where, text]) => (where.startsWith('GET /console/static/') ? [text] : []))
  const named = scripts.flatMap((text) => text.match(/(?<=[`'])console\/api(?:\/[\w-]+)+/g) ?? [])
  for (const path of new Set(named)) for (const more of ['', '/0/0', '/1']) await ask(`/${path}${more}`)
}

/** The help of each command, and what comes of it without arguments, and with those that are wrong. */
async function runAll(
  texts: Texts,
  definition: Definition,
  environment: { DATA_DIR: string },
  group = '',
): Promise<void> {
  const run = async (line: string) => {
    const { output, errors } = await runCommands(definition, environment, line)
    add(texts, `command ${line}`, output + errors)
    return output
  }
  const help = await run(`${group} --help`.trim())
  const [, commands = ''] = help.split('\nCommands:\n')
  for (const [, name] of commands.matchAll(/^ {2}(\w+)/gm))
    if (name !== 'help') await runAll(texts, definition, environment, `${group} ${name}`.trim())
  if (commands !== '' && group !== '') return
  for (const more of ['', ' --json', ` ${environment.DATA_DIR}/none`, ' --none']) await run(group + more)
}
