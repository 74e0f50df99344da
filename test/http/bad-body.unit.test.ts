import { afterAll, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../src/lib/errors.ts'
import { expectError } from './expect-error.ts'
import { authorization, FakeServices, openApp } from './fake-services.ts'

const services = new FakeServices()
const app = await openApp(services)
afterAll(() => app.close())

const post = (payload: string | Buffer, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  app.inject({ method: 'POST', url: '/v1/pets', payload, headers: { authorization, ...headers } })

const notInt64 = 'categoryId must be an integer from -9223372036854775808 to 9223372036854775807'
const notName = 'name must be 1 to 128 characters of well-formed Unicode, not only white space'
const astral = '\u{1F436}'

describe('a body with invalid values is 400 and names the field', () => {
  it.each([
    ['name missing', '{"categoryId":1}', 'body: name is required'],
    ['name empty', '{"name":"","categoryId":1}', 'body: name must NOT have fewer than 1 characters'],
    ['name of 129', `{"name":"${'x'.repeat(129)}","categoryId":1}`, 'body: name must NOT have more than 128'],
    ['name of 129 astral', `{"name":"${astral.repeat(129)}","categoryId":1}`, 'body: name must NOT have more than 128'],
    ['name blank', '{"name":" \\t\\n\u3000","categoryId":1}', `body: ${notName}`],
    ['name with a lone surrogate', '{"name":"a\\ud800","categoryId":1}', `body: ${notName}`],
    ['name a number', '{"name":5,"categoryId":1}', 'body: name must be string'],
    ['name null', '{"name":null,"categoryId":1}', 'body: name must be string'],
    ['name an array', '{"name":["Rex"],"categoryId":1}', 'body: name must be string'],
    ['categoryId missing', '{"name":"Rex"}', 'body: categoryId is required'],
    ['categoryId a string', '{"name":"Rex","categoryId":"1"}', `body: ${notInt64}`],
    ['categoryId null', '{"name":"Rex","categoryId":null}', `body: ${notInt64}`],
    ['categoryId true', '{"name":"Rex","categoryId":true}', `body: ${notInt64}`],
    ['categoryId 1.5', '{"name":"Rex","categoryId":1.5}', `body: ${notInt64}`],
    ['categoryId 2^63', '{"name":"Rex","categoryId":9223372036854775808}', `body: ${notInt64}`],
    ['categoryId -2^63 - 1', '{"name":"Rex","categoryId":-9223372036854775809}', `body: ${notInt64}`],
    ['categoryId 1e400', '{"name":"Rex","categoryId":1e400}', `body: ${notInt64}`],
    ['categoryId nearly 1', '{"name":"Rex","categoryId":1.00000000000000000001}', `body: ${notInt64}`],
    ['categoryId nearly 0', '{"name":"Rex","categoryId":1e-400}', `body: ${notInt64}`],
    [
      'status unknown',
      '{"name":"Rex","categoryId":1,"status":"lost"}',
      'status must be one of available, pending, sold',
    ],
    ['status null', '{"name":"Rex","categoryId":1,"status":null}', 'status must be one of available, pending, sold'],
    ['a field unknown', '{"name":"Rex","categoryId":1,"colour":"red"}', 'body: "colour" is not known here'],
    ['id given', '{"id":1,"name":"Rex","categoryId":1}', 'body: "id" is not known here'],
    ['__proto__', '{"__proto__":{"name":"Rex"},"categoryId":1}', 'name is required; "__proto__" is not known here'],
    ['constructor', '{"name":"Rex","categoryId":1,"constructor":{}}', 'body: "constructor" is not known here'],
    ['both fields missing', '{}', 'body: name is required; categoryId is required'],
    ['an array', '[{"name":"Rex","categoryId":1}]', 'body: the value must be object'],
    ['a string', '"Rex"', 'body: the value must be object'],
    ['null', 'null', 'body: the value must be object'],
    ['deep nesting in a field', `{"name":${'['.repeat(8000)}${']'.repeat(8000)}}`, 'name must be string'],
  ])('%s', async (_what, body, message) => expectError(await post(body), 400, 'invalid_request', message))

  it('nothing was stored by any of them', () => expect(services.stored).toEqual([]))
})

describe('a body that cannot be read', () => {
  const valid = '{"name":"Rex","categoryId":1}'
  const deep = (inside: string) => '['.repeat(8100) + inside + ']'.repeat(8100)
  const tooLong = `{"name":"Rex","categoryId":1${' '.repeat(16 * 1024 - valid.length + 1)}}`

  it.each<[string, string | Buffer, number, ErrorCode, string]>([
    ['not JSON', 'name=Rex', 400, 'invalid_json', 'not JSON'],
    ['cut off', '{"name":"Rex"', 400, 'invalid_json', 'not JSON'],
    ['two values', `${valid}${valid}`, 400, 'invalid_json', 'not JSON'],
    ['empty', '', 400, 'invalid_json', 'empty'],
    ['invalid UTF-8', Buffer.from('{"name":"\xff","categoryId":1}', 'latin1'), 400, 'invalid_json', 'not UTF-8'],
    ['UTF-8 cut off', Buffer.from('{"name":"\xf0\x9f\x90', 'latin1'), 400, 'invalid_json', 'not UTF-8'],
    ['an encoded surrogate', Buffer.from('{"name":"\xed\xa0\x80"}', 'latin1'), 400, 'invalid_json', 'not UTF-8'],
    ['16 KiB of opening brackets', '['.repeat(16 * 1024), 400, 'invalid_json', 'not JSON'],
    ['deep nesting', deep('1'), 400, 'invalid_request', 'must be object'],
    ['deep nesting around a long number', deep('1234567890123456789'), 400, 'invalid_json', 'not JSON'],
    ['16 KiB and a byte', tooLong, 413, 'payload_too_large', '16 KiB'],
    ['17 KiB', 'x'.repeat(17 * 1024), 413, 'payload_too_large', '16 KiB'],
  ])('%s', async (_what, body, status, code, message) => expectError(await post(body), status, code, message))

  it('just 16 KiB are read', async () => {
    expect((await post(tooLong.replace('  ', ' '))).statusCode).toBe(201)
  })

  it('nothing at all, without a type', async () => {
    const response = await app.inject({ method: 'POST', url: '/v1/pets', headers: { authorization } })
    expectError(response, 400, 'invalid_request', 'body: the value must be object')
  })

  it.each([
    '',
    'text/plain',
    'text/json',
    'application/jsonx',
    'application/vnd.api+json',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'multipart/form-data; boundary=x',
    'nonsense',
  ])('type %j is 415', async (type) => {
    expectError(await post(valid, { 'content-type': type }), 415, 'unsupported_media_type', 'application/json')
  })

  it('a body without a type is 415', async () => {
    const response = await post(Buffer.from(valid), {})
    expectError(response, 415, 'unsupported_media_type')
  })

  it.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json; charset="utf-8"',
  ])('type %j is read', async (type) => {
    expect((await post(valid, { 'content-type': type })).statusCode).toBe(201)
  })
})
