import { describe, expect, it } from 'vitest'
import type { EngineErrorCode } from '../../../src/engine/lib/errors/engine-errors.ts'
import { authorization, expectError, testServer } from './test-services.ts'

const server = testServer()
const type = 'application/json'
const post = (payload: string | Buffer, headers: Record<string, string> = { 'content-type': type }) =>
  server.app.inject({ method: 'POST', url: '/v1/seats', payload, headers: { authorization, ...headers } })

const notInt64 = 'must be an integer from -9223372036854775808 to 9223372036854775807'
const notName = 'name must be 1 to 128 characters of well-formed Unicode, not only white space'

const asSeat = (name: string, rowId = '1') => `{"name":${name},"rowId":${rowId}}`
const asText = (name: string) => asSeat(`"${name}"`)
const noInt64 = '"1" null true 1.5 9223372036854775808 -9223372036854775809 1e400 1.00000000000000000001 1e-400'.split(
  ' ',
)

const bodiesByMessage: Record<string, string[]> = {
  'body: name is required; rowId is required': ['{}'],
  'body: name is required': ['{"rowId":1}'],
  [`body: name must have at least one character; ${notName}`]: [asText('')],
  'body: name must have at most 128 characters': [asText('x'.repeat(129)), asText('\u{1F436}'.repeat(129))],
  [`body: ${notName}`]: [asText(' \\t\\n\u3000'), asText('a\\ud800')],
  'body: name must be string': ['5', 'null', '["A12"]', '['.repeat(8000) + ']'.repeat(8000)].map((name) =>
    asSeat(name),
  ),
  'body: rowId is required': ['{"name":"A12"}'],
  [`body: rowId ${notInt64}`]: noInt64.map((rowId) => asSeat('"A12"', rowId)),
  'status must be one of available, pending, sold': ['"lost"', 'null'].map((status) =>
    asSeat('"A12"', `1,"status":${status}`),
  ),
  'body: "colour" is not allowed here': [asSeat('"A12"', '1,"colour":"red"')],
  'body: "id" is not allowed here': ['{"id":1,"name":"A12","rowId":1}'],
  'name is required; "__proto__" is not allowed here': ['{"__proto__":{"name":"A12"},"rowId":1}'],
  'body: "constructor" is not allowed here': [asSeat('"A12"', '1,"constructor":{}')],
  'body: the value must be object': [`[${asText('A12')}]`, '"A12"', 'null'],
}

describe('a body with invalid values is 400 and names the field', () => {
  it.each(Object.entries(bodiesByMessage))('%s', async (message, bodies) => {
    for (const body of bodies) expectError(await server.post('/v1/seats', body), 400, 'invalid_request', message)
    const { handled, atLeast, events } = server.services
    expect([handled, atLeast, events]).toEqual([[], [], []])
  })
})

describe('a body that cannot be read', () => {
  const valid = '{"name":"A12","rowId":1}'
  const deep = (inside: string) => '['.repeat(8100) + inside + ']'.repeat(8100)
  const tooLong = `{"name":"A12","rowId":1${' '.repeat(16 * 1024 - valid.length + 1)}}`

  it.each<[string, string | Buffer, number, EngineErrorCode, string]>([
    ['not JSON', 'name=A12', 400, 'invalid_json', 'not JSON'],
    ['cut off', '{"name":"A12"', 400, 'invalid_json', 'not JSON'],
    ['two values', `${valid}${valid}`, 400, 'invalid_json', 'not JSON'],
    ['empty', '', 400, 'invalid_json', 'empty'],
    ['invalid UTF-8', Buffer.from('{"name":"\xff","rowId":1}', 'latin1'), 400, 'invalid_json', 'not UTF-8'],
    ['UTF-8 cut off', Buffer.from('{"name":"\xf0\x9f\x90', 'latin1'), 400, 'invalid_json', 'not UTF-8'],
    ['an encoded surrogate', Buffer.from('{"name":"\xed\xa0\x80"}', 'latin1'), 400, 'invalid_json', 'not UTF-8'],
    ['16 KiB of opening brackets', '['.repeat(16 * 1024), 400, 'invalid_json', 'not JSON'],
    ['deep nesting', deep('1'), 400, 'invalid_request', 'must be object'],
    ['deep nesting around a long number', deep('1234567890123456789'), 400, 'invalid_json', 'nested too deeply'],
    ['16 KiB and a byte', tooLong, 413, 'payload_too_large', '16 KiB'],
    ['17 KiB', 'x'.repeat(17 * 1024), 413, 'payload_too_large', '16 KiB'],
  ])('%s', async (_what, body, status, code, message) => expectError(await post(body), status, code, message))

  it('shorter or longer than Content-Length says', async () => {
    for (const length of [valid.length - 1, valid.length + 1]) {
      const answer = await post(valid, { 'content-type': 'application/json', 'content-length': String(length) })
      expectError(answer, 400, 'invalid_request', 'The length of the body differs from Content-Length.')
    }
  })

  it('just 16 KiB are read', async () => {
    expect((await post(tooLong.replace('  ', ' '))).statusCode).toBe(201)
  })

  it('nothing at all, without a type', async () => {
    const response = await server.app.inject({ method: 'POST', url: '/v1/seats', headers: { authorization } })
    expectError(response, 400, 'invalid_request', 'body: the value must be object')
  })

  const otherTypes =
    '|nonsense|text/plain|application/merge-patch+json|text/json|application/jsonx|application/vnd.api+json|application/x-www-form-urlencoded|' +
    'application/json; charset=latin1|application/json; charset=utf-16|multipart/form-data; boundary=x|' +
    'application/json; charset=utf-8; charset=latin1|application/json; x=y; charset="utf-16"|application/json, text/plain|' +
    'application/json, application/json|application / json|"application/json"'
  it.each(otherTypes.split('|'))('type %j is 415', async (type) => {
    const answer = await post(valid, { 'content-type': type })
    expectError(answer, 415, 'unsupported_media_type', 'The body must be application/json, in UTF-8.')
    expect(answer.headers).not.toHaveProperty('accept-patch')
  })

  it.each([
    ...[
      'application/json-patch+json',
      'application/merge-patch+json; charset=latin1',
      'application/json; charset=latin1',
    ],
    ...['text/plain', 'nonsense', '', undefined],
  ])('a PATCH of type %j is 415 and told the types that are taken', async (type) => {
    const headers = { authorization, ...(type !== undefined && { 'content-type': type }) }
    const payload = Buffer.from('{"status":"approved"}') // inject gives a string a type
    const answer = await server.app.inject({ method: 'PATCH', url: '/v1/bookings/1', payload, headers })
    const message = 'The body must be application/json or application/merge-patch+json, in UTF-8.'
    expectError(answer, 415, 'unsupported_media_type', message)
    expect(answer.headers['accept-patch']).toBe('application/json, application/merge-patch+json')
  })

  it('a body without a type is 415', async () => {
    const response = await post(Buffer.from(valid), {})
    expectError(response, 415, 'unsupported_media_type', 'The body must be application/json, in UTF-8.')
  })

  const utf8Types =
    'application/json|APPLICATION/JSON|aPPlication/Json ; CharSet=Utf-8|application/json;charset=utf-8|application/json;|' +
    'application/json; charset=UTF-8|application/json; charset="utf-8"|application/json; charset="u\\tf-8"|' +
    'application/json; profile="a;b=c"; charset=utf-8; v=1|application/json; x=y'
  it.each(utf8Types.split('|'))('type %j is read', async (type) => {
    expect((await post(valid, { 'content-type': type })).statusCode).toBe(201)
  })
})
