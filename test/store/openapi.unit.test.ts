import { execFile } from 'node:child_process'
import fs, { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { authorization, openApp, TestServices } from '../engine/http/test-services.ts'
import { errorsReference } from './errors-reference.ts'
import { petstore } from './petstore.ts'

const execute = promisify(execFile)

interface Response {
  readonly headers?: Record<string, { schema: object; description: string }>
  readonly content?: Record<string, { schema: { $ref?: string }; example?: unknown }>
}
interface Operation {
  readonly parameters?: { name: string; in: string; description?: string }[]
  readonly responses: Record<string, Response>
}

const app = await openApp(new TestServices(petstore))
afterAll(() => app.close())
const document = (await app.inject('/openapi.json')).json()
const paths: Record<string, Operation>[] = Object.values(document.paths)
const operations = paths.flatMap((methods) => Object.values(methods))

it.each(['openapi.json', 'asyncapi.json'])('%s is the copy in docs (npm run schemas writes it)', async (name) => {
  const { statusCode, headers, body } = await app.inject(`/${name}`)
  expect([statusCode, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  expect(JSON.parse(body)).toEqual(JSON.parse(readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')))
})

it('docs/errors.md is up to date: else run `npm run schemas`', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  expect(page).toBe(errorsReference(petstore.errors))
})

it('names its server and its pages by PUBLIC_URL, and without it has no address but /v1', async () => {
  expect(document.info).toMatchObject({
    license: { identifier: 'MIT' },
    contact: { name: expect.stringMatching(/\w/) },
  })
  const publicUrl = 'https://petstore.example/shop'
  const published = await openApp(new TestServices(petstore), { publicUrl })
  const addresses = (text: string) => [...text.matchAll(/"url":"([^"]*)"/g)].map(([, url]) => url)
  expect(addresses(JSON.stringify(document))).toEqual(['/v1'])
  expect(addresses((await published.inject('/openapi.json')).body)).toEqual(
    ['/docs', '/v1', '/asyncapi.json', '/docs/errors'].map((path) => publicUrl + path),
  )
  await published.close()
})

it('is valid, by a validator of the specification', async () => {
  expect(await new Validator().validate(document)).toMatchObject({ valid: true })
})

it('has no flaw, by the strict rules of a linter', { timeout: 60_000 }, async () => {
  const linter = fileURLToPath(new URL('../../node_modules/@redocly/cli/bin/cli.js', import.meta.url))
  const copy = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url))
  const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const lint = execute(process.execPath, [linter, 'lint', copy, '--extends', 'recommended-strict'], { env })
  expect((await lint).stderr).toContain('Your API description is valid')
})

it('names every object, every choice and every fixed value, once and as no Go constructor is named', () => {
  const { schemas } = document.components
  const isNamed = (schema: object) =>
    ['properties', 'enum', 'const', 'oneOf', 'anyOf', 'allOf'].some((word) => word in schema)
  const inline: string[] = []
  const visit = (node: unknown, path: string) => {
    if (typeof node !== 'object' || node === null || /\/examples?$|\/mapping$/.test(path)) return
    // A parameter may list what has a name elsewhere.
    const isTitled = 'title' in node && /parameters\/\d+\/schema$/.test(path)
    if (isNamed(node) && !/\/(properties|schemas\/\w+)$/.test(path) && !isTitled) inline.push(path)
    for (const [name, part] of Object.entries(node)) visit(part, `${path}/${name}`)
  }
  visit(document, '')
  expect(inline).toEqual([])
  const values = Object.values<{ enum?: string[] }>(schemas).flatMap((schema) => schema.enum ?? [])
  expect(values).toEqual([...new Set(values)])
  for (const name of Object.keys(schemas)) expect(name).not.toMatch(/^New|(Request|Response|Params|Res|Req|Body)$/)
})

it('tells generators that answers may get members, and bodies of requests not', () => {
  const objects = Object.entries<Record<string, unknown>>(document.components.schemas)
    .filter(([, schema]) => schema.type === 'object')
    .map(([name, schema]) => [name, schema.additionalProperties])
  expect(objects.length).toBeGreaterThan(10)
  for (const [name, isOpen] of objects) expect([name, isOpen]).toEqual([name, !/Input$|Change$/.test(String(name))])
})

it('says int64 of every integer that may be larger than an int32', () => {
  const asyncApi = readFileSync(new URL('../../docs/asyncapi.json', import.meta.url), 'utf8')
  for (const text of [JSON.stringify(document), asyncApi])
    JSON.parse(text, (_name, part) => {
      const isWide = part?.type === 'integer' && part.maximum > 2 ** 31
      if (isWide) expect(part).toMatchObject({ format: 'int64' })
      return part
    })
})

it('describes every parameter, and proposes no value for an optional header', () => {
  for (const { parameters = [] } of operations) {
    for (const { name, in: place, description, ...parameter } of parameters) {
      expect([name, description]).toEqual([name, expect.stringMatching(/\w/)])
      if (place === 'header') expect(JSON.stringify(parameter)).not.toMatch(/example|default/)
    }
  }
})

it('proposes no value for a filter: the page of the documents would send it', () => {
  for (const { parameters = [] } of operations)
    for (const { name, in: place, ...parameter } of parameters)
      if (place === 'query' && /Id$/.test(name)) expect(JSON.stringify(parameter), name).not.toContain('example')
})

it('explains each response header, and shows for each status an error with that status', () => {
  for (const [status, { headers = {}, content }] of operations.flatMap(({ responses }) => Object.entries(responses))) {
    for (const { schema, description } of Object.values(headers)) {
      expect({ schema, description }).toMatchObject({
        schema: { type: expect.stringMatching(/^(string|integer)$/) },
        description: expect.stringMatching(/\w/),
      })
    }
    const { schema, example } = content?.['application/json'] ?? {}
    const isError = schema?.$ref === '#/components/schemas/Error'
    if (/^[45]/.test(status)) expect([isError, example]).toMatchObject([true, { status: Number(status) }])
  }
})

it('says of what is deprecated when it goes, and points to nothing that cannot be done yet', async () => {
  const { get } = document.paths['/pets/{petId}']
  const { headers } = await app.inject({ url: '/v1/pets/1', headers: { authorization } })
  const [, day, month, year] = String(headers.sunset).split(' ')
  expect(get).toMatchObject({
    deprecated: true,
    description: expect.stringMatching(`${Number(day)} ${month}\\w* ${year}`),
  })
  const canFindOne = document.paths['/pets'].get.parameters.some(({ name }: { name: string }) => name === 'id')
  expect(get.description.includes('cannot find one pet yet')).toBe(!canFindOne)
})

it('is answered in JSON whatever Accept says, as RFC 9110 section 12.5.1 allows', async () => {
  for (const accept of ['text/html', 'application/json;q=0', 'rubbish']) {
    const { statusCode, headers } = await app.inject({ url: '/v1/pets', headers: { authorization, accept } })
    expect([statusCode, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  }
})

describe('/docs', () => {
  it('is a page that needs no other host', async () => {
    const page = await app.inject('/docs')
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/)
    expect(String(page.headers['content-security-policy'])).not.toMatch(/unsafe|http|\*/)
    const files = [...page.body.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url)
    expect(files.length).toBeGreaterThan(3)
    for (const url of files) {
      expect(url).toMatch(/^docs\/static\//)
      expect((await app.inject(`/${url}`)).statusCode).toBe(200)
    }
    const { body } = await app.inject('/docs/static/page.js')
    expect(body).toContain('validatorUrl: null') // else a badge is fetched from elsewhere
    expect(body).toContain("layout: 'BaseLayout'") // the other one applies an inline style, which the policy forbids
  })

  it('reads a file when it is first asked for, and never again: later requests need no file descriptor', async () => {
    const spy = vi.spyOn(fs, 'readFileSync')
    onTestFinished(() => {
      spy.mockRestore()
      syncBuiltinESMExports()
    })
    syncBuiltinESMExports()
    const readSoFar = () => spy.mock.calls.filter(([path]) => /docs-page|swagger-ui/.test(String(path))).length
    const fresh = await openApp(new TestServices(petstore))
    const reads = [readSoFar()]
    for (const name of ['swagger-ui-bundle.js', 'page.js', 'swagger-ui-bundle.js', 'page.js']) {
      expect((await fresh.inject(`/docs/static/${name}`)).statusCode).toBe(200)
      reads.push(readSoFar())
    }
    expect(reads).toEqual([0, 1, 2, 2, 2])
    await fresh.close()
  })

  it.each(['/', '/docs/'])('is where %s leads, by HEAD as well, under any prefix', async (url) => {
    for (const method of ['GET', 'HEAD'] as const) {
      const { statusCode, headers } = await app.inject({ method, url })
      const target = new URL(String(headers.location), `https://petstore.example/shop${url}`).pathname
      expect([method, statusCode, target]).toEqual([method, 302, '/shop/docs'])
    }
  })

  it('has a page of errors with an anchor for each code', async () => {
    const { body } = await app.inject('/docs/errors')
    const anchors = [...body.matchAll(/<dt id="(\w+)">/g)].map(([, code]) => code)
    expect(anchors).toEqual([...petstore.errors.keys()])
  })

  it('is what the deprecation notice leads to', async () => {
    const { headers } = await app.inject({ url: '/v1/pets/1', headers: { authorization } })
    const notice = /<([^>]+)>; rel="deprecation"; type="([^"]+)"/.exec(String(headers.link))
    const page = await app.inject(notice?.[1] ?? '')
    expect(page.headers['content-type']).toContain(notice?.[2])
  })
})
