import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../src/lib/errors.ts'
import { expectError } from './expect-error.ts'
import { authorization, testServer } from './fake-services.ts'

const server = testServer(beforeAll, afterAll)
const type = 'application/json'
const post = (payload: string | Buffer, headers: Record<string, string> = { 'content-type': type }) =>
  server.app.inject({ method: 'POST', url: '/v1/pets', payload, headers: { authorization, ...headers } })

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

  it.each([
    ['no petId', '{}', 'body: petId is required'],
    ['null', '{"petId":null}', 'body: petId must be an integer from -9223372036854775808 to 9223372036854775807'],
    ['a string', '{"petId":"1"}', 'body: petId must be an integer'],
    ['1.5', '{"petId":1.5}', 'body: petId must be an integer'],
    ['2^63', '{"petId":9223372036854775808}', 'body: petId must be an integer'],
    ['-2^63 - 1', '{"petId":-9223372036854775809}', 'body: petId must be an integer'],
    ['nearly 1', '{"petId":1.00000000000000000001}', 'body: petId must be an integer'],
    ['an id', '{"petId":1,"id":2}', 'body: "id" is not known here'],
    ['a status and a quantity', '{"petId":1,"status":"placed","quantity":2}', '"status" is not known here; "quantity"'],
    ['an array', '[{"petId":1}]', 'body: the value must be object'],
  ])('an order of %s', async (_what, body, message) => {
    expectError(await server.post('/v1/store/orders', body), 400, 'invalid_request', message)
  })

  it.each([
    ['no status', '{}', 'body: status is required'],
    ['an unknown one', '{"status":"lost"}', 'body: status must be one of placed, approved, delivered, cancelled'],
    ['that of a pet', '{"status":"sold"}', 'body: status must be one of'],
    ['one in capitals', '{"status":"APPROVED"}', 'body: status must be one of'],
    ['null', '{"status":null}', 'body: status must be string'],
    ['another pet', '{"status":"approved","petId":2}', 'body: "petId" is not known here'],
    ['a JSON Patch', '[{"op":"replace","path":"/status","value":"approved"}]', 'body: the value must be object'],
  ])('a change of an order to %s', async (_what, body, message) => {
    expectError(await server.patch('/v1/store/orders/1', body), 400, 'invalid_request', message)
  })

  it('nothing was asked for or stored by any of them', () => {
    const { handled, atLeast, events } = server.services
    expect([handled, atLeast, events]).toEqual([[], [], []])
  })
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

  it('shorter or longer than Content-Length says', async () => {
    for (const length of [valid.length - 1, valid.length + 1]) {
      const answer = await post(valid, { 'content-type': 'application/json', 'content-length': String(length) })
      expectError(answer, 400, 'invalid_request', 'The body is not as long as Content-Length says.')
    }
  })

  it('just 16 KiB are read', async () => {
    expect((await post(tooLong.replace('  ', ' '))).statusCode).toBe(201)
  })

  it('nothing at all, without a type', async () => {
    const response = await server.app.inject({ method: 'POST', url: '/v1/pets', headers: { authorization } })
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
    const answer = await post(valid, { 'content-type': type })
    expectError(answer, 415, 'unsupported_media_type', 'application/json')
    expect(answer.headers).not.toHaveProperty('accept-patch')
  })

  it.each(['application/merge-patch+json', 'application/json-patch+json', 'text/plain', ''])(
    'a PATCH of type %j is 415 and told the type that is taken',
    async (type) => {
      const answer = await server.patch('/v1/store/orders/1', '{"status":"approved"}', { 'content-type': type })
      expectError(answer, 415, 'unsupported_media_type')
      expect(answer.headers['accept-patch']).toBe('application/json')
    },
  )

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
