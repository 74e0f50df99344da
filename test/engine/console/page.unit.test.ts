import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/engine/app/config.ts'
import { startService } from '../../../src/engine/app/service.ts'
import { freePort } from '../../brokers/ready.ts'
import { theatre } from '../theatre/theatre.ts'
import { useTheatre } from './console-theatre.ts'

const running = useTheatre()
const { ask } = running

describe('the page of the console', () => {
  const filesOf = (html: string) => [...html.matchAll(/(?:href|src)="(console\/[^"]+)"|"\.\/(console\/[^"]+)"/g)]

  /** Else a page would run with files of another release for a while. */
  async function expectAskedAgain(name: string, headers: Headers): Promise<void> {
    expect([name, headers.get('cache-control')]).toEqual([name, 'no-cache'])
    const same = { 'if-none-match': headers.get('etag') ?? '' }
    const again = await fetch(`${running.url}/${name}`, { headers: same })
    expect([name, again.status, again.headers.get('content-security-policy')]).toEqual([
      name,
      304,
      headers.get('content-security-policy'),
    ])
  }

  it('has a policy by which nothing else runs, and is small', async () => {
    const { status, headers, body: html } = await ask<string>('console', { key: '' })
    expect(status).toBe(200)
    await expectAskedAgain('console', headers)
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self' 'sha256-[^']+'; /)
    const named = filesOf(html).map(([, linked, imported]) => linked ?? imported ?? '')
    const imports = (text: string) =>
      [...text.matchAll(/from '\.\/(\w+\.js)'/g)].map(([, name]) => `console/static/${name}`)
    const files = new Map([['console', html]])
    for (const name of named) {
      if (files.has(name)) continue
      const file = await ask<string>(name, { key: '' })
      expect(file.status, name).toBe(200)
      await expectAskedAgain(name, file.headers)
      files.set(name, file.body)
      named.push(...imports(file.body))
    }
    expect(files.size).toBeGreaterThan(15)
    const bytes = [...files.values()].reduce((sum, text) => sum + gzipSync(text).length, 0)
    expect(bytes).toBeLessThan(120_000)
  })

  it('escapes what a service is called', async () => {
    const html = (await ask<string>('console', { key: '' })).body
    expect(html).toContain('<title>Theatre: console</title>')
  })

  it('is found with a slash behind it too', async () => {
    const { url } = await fetch(`${running.url}/console/`)
    expect(url).toBe(`${running.url}/console`)
  })
})

describe('where the console is', () => {
  const silent = pino({ level: 'silent' })
  async function statusesOf(settings: NodeJS.ProcessEnv) {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'theatre-where-'))
    const [port, adminPort] = [await freePort(), await freePort()]
    const admin = settings.ADMIN_PORT === undefined ? {} : { ADMIN_PORT: String(adminPort) }
    const environment = { DATA_DIR: folder.path, PORT: String(port), ...settings, ...admin }
    const other = await startService(theatre, readConfig(theatre, environment), silent, { lost: 0, warnings: [] })
    const paths = ['console', 'console/api/status', 'v1/seats']
    const ports = settings.ADMIN_PORT === undefined ? [port] : [port, adminPort]
    try {
      return await Promise.all(
        ports.map((each) =>
          Promise.all(paths.map(async (path) => (await fetch(`http://127.0.0.1:${each}/${path}`)).status)),
        ),
      )
    } finally {
      await other.close()
    }
  }

  it.each([
    ['on the port of the API', {}, [[200, 401, 401]]],
    ['nowhere, where it is switched off', { CONSOLE: 'false' }, [[404, 404, 401]]],
    [
      'on the admin port alone, with the API beside it',
      { ADMIN_PORT: 'some' },
      [
        [404, 404, 401],
        [200, 401, 401],
      ],
    ],
    [
      'nowhere, and the admin port has no API',
      { ADMIN_PORT: 'some', CONSOLE: 'false' },
      [
        [404, 404, 401],
        [404, 404, 404],
      ],
    ],
  ])('is %s', async (_where, settings, statuses) => {
    expect(await statusesOf(settings)).toEqual(statuses)
  })

  it('is off with brokers, unless it is switched on', () => {
    const brokers = { KAFKA_BROKERS: 'localhost:9092', REDIS_URL: 'redis://localhost' }
    expect(readConfig(theatre, brokers).hasConsole).toBe(false)
    expect(readConfig(theatre, { ...brokers, CONSOLE: 'true' }).hasConsole).toBe(true)
  })
})
