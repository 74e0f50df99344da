import { describe, expect, it } from 'vitest'
import { tagOf } from '../../../src/engine/http/values/conditions.ts'
import { expectError, headerOf, testServer } from './test-services.ts'

const server = testServer()
const ask = (url: string, headers = {}, method: 'GET' | 'HEAD' = 'GET') => server.app.inject({ method, url, headers })
const files = ['page.css', 'page.js', 'exact-json.js', 'swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']
const urls = [
  '/openapi.json',
  '/asyncapi.json',
  '/docs',
  '/docs/errors',
  ...files.map((name) => `/docs/static/${name}`),
]

describe.each(urls)('%s', (url) => {
  it('may be kept, and whoever keeps it asks with its tag before each use', async () => {
    const whole = await ask(url)
    const etag = headerOf(whole, 'etag')
    expect(whole.headers).toMatchObject({ etag: `"${tagOf(whole.rawPayload)}"`, 'cache-control': 'no-cache' })
    const { 'content-type': _type, 'content-length': _length, ...headers } = whole.headers
    for (const tag of [etag, `W/${etag}`, '*']) {
      const same = await ask(url, { 'if-none-match': tag })
      expect([same.statusCode, same.body, { ...same.headers, date: '' }]).toEqual([304, '', { ...headers, date: '' }])
      expect((await ask(url, { 'if-none-match': tag }, 'HEAD')).statusCode).toBe(304)
    }
    const head = await ask(url, { 'if-none-match': '"other"' }, 'HEAD')
    expect([head.statusCode, { ...head.headers, date: '' }]).toEqual([200, { ...whole.headers, date: '' }])
  })

  it('refuses other conditions as every operation does, by an answer that is not kept', async () => {
    const other = await ask(url, { 'if-match': '"other"' })
    expectError(other, 412, 'precondition_failed', 'does not have the entity tag of the present state')
    const malformed = await ask(url, { 'if-none-match': 'other' })
    expectError(malformed, 400, 'invalid_request', 'must be * or a list of entity tags')
    for (const { headers } of [other, malformed]) expect(headers).not.toHaveProperty('etag')
  })
})
