import { beforeEach, describe, expect, it } from 'vitest'
import { writeToken } from '../../../src/engine/http/values/tokens.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { filteredSeats } from './filtered-seats.ts'
import { expectError, tokenScope } from './test-services.ts'

const { server, list, counts, store } = filteredSeats()

describe('a count', () => {
  beforeEach(() => {
    store(1, { rowId: 7, status: 'A-b', kind: 'cat', note: 'x' })
    store(2, { rowId: 7, status: 'A-b', kind: 'A-b', note: 'y' })
    store(3, { rowId: 7, status: 'A-b' })
    store(4, { rowId: 70, status: 'cat', kind: 'cat' })
    store(5, { rowId: 7, kind: 'cat' })
  })

  it('has each value, of all and of those that another filter chooses, with whatever else beside it', async () => {
    expect((await counts()).body).toBe('{"A-b":3,"cat":1}')
    expect((await counts('?rowId=7')).body).toBe('{"A-b":3,"cat":0}')
    expect((await counts('?rowId=70')).body).toBe('{"A-b":0,"cat":1}')
    expect((await counts('?note=x')).body).toBe('{"A-b":1,"cat":0}')
    expect((await counts('?rowId=-1')).body).toBe('{"A-b":0,"cat":0}')
  })

  it('has no other parameter', async () => {
    for (const name of ['limit', 'cursor', 'id', 'status', 'kind', 'seat', 'colour'])
      expectError(await counts(`?${name}=1`), 400, 'invalid_request', `query: "${name}" is not allowed here`)
  })

  it('judges conditions, and answers HEAD, as a list', async () => {
    expect((await counts('', { 'if-match': '*' })).statusCode).toBe((await list('', { 'if-match': '*' })).statusCode)
    expectError(await counts('', { 'if-match': 'x' }), 400, 'invalid_request')
    const [get, head] = [await counts(), await server.send('HEAD', '/v1/counts')]
    expect([head.statusCode, head.headers['content-length'], head.body]).toEqual([
      200,
      get.headers['content-length'],
      '',
    ])
    expect(get.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    })
    for (const header of ['link', 'etag']) expect(get.headers).not.toHaveProperty(header)
  })

  it('waits for what a token stands for, as long as preferred, and hands on a token', async () => {
    const token = writeToken(tokenScope, [{ partition: 0, offset: 3 }])
    const answer = await counts('?rowId=7', { 'consistency-token': token, prefer: 'wait=3' })
    expect(server.services.atLeast).toMatchObject([
      { positions: [{ partition: 0, offset: 3 }], wait: { timeoutMs: 3000 } },
    ])
    expect(answer.headers).toMatchObject({
      'consistency-token': expect.stringMatching(/^[\w-]+$/),
      'preference-applied': 'wait=3',
      vary: 'Consistency-Token, Prefer',
    })
    expect((await counts()).headers).not.toHaveProperty('consistency-token')
    expectError(await counts('', { 'consistency-token': 'x' }), 400, 'invalid_consistency_token')
  })

  it('is for keys with the scope read', async () => {
    server.services.scopes = new Set(['write'])
    expectError(await counts(), 403, 'insufficient_scope')
  })

  it.each(['read_model_unavailable', 'read_model_rebuilding', 'read_model_behind'] as const)(
    'is 503 %s, as a list, rather than a number that may be wrong',
    async (code) => {
      server.services.beforeRead = () => Promise.reject(new ServiceError(code, 'Later.'))
      for (const answer of [await counts('?rowId=7'), await list('rowId=7')]) expectError(answer, 503, code)
    },
  )
})
