import { describe, expect, it } from 'vitest'
import { writeCursor } from '../../../src/engine/http/values/tokens.ts'
import { nextOf } from './contract/fixture.ts'
import { filteredSeats } from './filtered-seats.ts'
import { expectError, headerOf } from './test-services.ts'

const { server, list, counts, store } = filteredSeats()

async function idsIn(query: string): Promise<number[]> {
  const answer = await list(query)
  expect([query, answer.statusCode]).toEqual([query, 200])
  return answer.json().map(({ id }: { id: number }) => id)
}

describe('filters that do not go together', () => {
  const going = 'rowId goes with status and kind, note goes with status'
  it.each([
    ['status=A-b&kind=cat', 'status and kind'],
    ['note=x&rowId=7', 'rowId and note'],
    ['note=x&kind=cat&status=A-b', 'status, kind and note'],
    ['seat=x&status=cat', 'status and seat'],
    ['rowId=7&note=x&kind=cat&status=A-b', 'rowId, status, kind and note'],
    ['status=A-b&kind=cat&id=3', 'status and kind'],
    ['status=A-b&kind=cat&cursor=none', 'status and kind'],
  ])('%s are 400, which names them, and what goes together', async (query, names) => {
    const message = `query: ${names} cannot be used together; ${going}`
    const answer = await list(query)
    expectError(answer, 400, 'invalid_request')
    expect(answer.json().message).toBe(message)
  })

  it('of a count are 400 as well', async () => {
    const answer = await counts('?rowId=7&note=x')
    expectError(answer, 400, 'invalid_request', `query: rowId and note cannot be used together; ${going}`)
  })
})

describe('filters that go together', () => {
  it('each narrow the list, and one beside which another has no value leaves nothing out', async () => {
    store(1, { rowId: 7, status: 'A-b', kind: 'cat' })
    store(2, { rowId: 7, status: 'cat' })
    store(3, { rowId: 7 })
    store(4, { rowId: 70, status: 'A-b', kind: 'cat' })
    store(5, { rowId: 7, status: 'A-b', kind: 'A-b' })
    store(6, { status: 'A-b', kind: 'cat' })
    const found = await Promise.all(
      ['rowId=7', 'rowId=7&status=A-b', 'rowId=7&kind=cat', 'kind=cat&status=A-b&rowId=7', 'status=A-b', 'rowId=8'].map(
        async (query) => [query, await idsIn(query)],
      ),
    )
    expect(Object.fromEntries(found)).toEqual({
      'rowId=7': [1, 2, 3, 5],
      'rowId=7&status=A-b': [1, 5],
      'rowId=7&kind=cat': [1],
      'kind=cat&status=A-b&rowId=7': [1],
      'status=A-b': [1, 4, 5, 6],
      'rowId=8': [],
    })
  })

  it('choose among the documents with some ids', async () => {
    for (const id of [1, 2, 3, 4]) store(id, { rowId: id < 4 ? 7 : 8, status: id === 2 ? 'cat' : 'A-b' })
    expect(await idsIn('id=4,3,2,1,9&rowId=7')).toEqual([1, 2, 3])
    expect(await idsIn('id=4,3,2,9&rowId=7&status=A-b')).toEqual([3])
    expect(await list('id=3&rowId=7')).not.toHaveProperty('headers.link')
    expectError(await list('id=3&rowId=7&limit=1'), 400, 'invalid_request', 'id and limit cannot be used together')
  })

  it('are in the link to the next page, whose cursor is theirs alone', async () => {
    for (const id of [1, 2, 3]) store(id, { rowId: 7, status: 'A-b', note: '7' })
    const next = nextOf(await list('status=A-b&limit=1&rowId=7')) ?? ''
    expect(next).toMatch(/^\/v1\/seats\?limit=1&rowId=7&status=A-b&cursor=[\w-]+$/)
    expect((await server.get(next)).json()).toEqual([{ id: 2 }])
    const cursor = /&cursor=.*/.exec(next)?.[0]
    const others = [
      '',
      'rowId=7',
      'rowId=8&status=A-b',
      'rowId=7&status=cat',
      'status=A-b',
      'note=7&status=A-b',
      'note=7',
    ]
    for (const other of others) expectError(await list(other + cursor), 400, 'invalid_cursor', 'another filter')
    for (const other of others) {
      const theirs = /cursor=[\w-]+/.exec(String((await list(`${other}&limit=1`)).headers.link))?.[0]
      if (theirs !== undefined) expectError(await list(`rowId=7&status=A-b&${theirs}`), 400, 'invalid_cursor')
    }
  })
})

it('a cursor belongs to one filter and its value, also where two have the same one', async () => {
  store(1, { status: 'A-b' })
  store(2, { status: 'A-b', kind: 'A-b' })
  store(3, { kind: 'A-b' })
  const cursorOf = async (query: string) => /&cursor=[\w-]+/.exec(headerOf(await list(`limit=1${query}`), 'link'))?.[0]
  const [all, first, second] = [await cursorOf(''), await cursorOf('&status=A-b'), await cursorOf('&kind=A-b')]
  expect((await list(`limit=1&kind=A-b${second}`)).json()).toEqual([{ id: 3 }])
  for (const other of [all, first]) expectError(await list(`limit=1&kind=A-b${other}`), 400, 'invalid_cursor')
})

it('cursors of earlier releases go on: of all, of the first enumeration, and of another one', async () => {
  for (const id of [1, 2]) store(id, { status: 'A-b', kind: 'cat', rowId: 7 })
  for (const [query, name] of [
    ['', ''],
    ['status=A-b&', 'A-b'],
    ['kind=cat&', 'kind:cat'],
  ] as const)
    expect(await idsIn(`${query}cursor=${writeCursor(1, name)}`)).toEqual([2])
  for (const name of ['', '7', 'rowId:7', 'rowId=1:7'])
    expectError(await list(`rowId=7&cursor=${writeCursor(1, name)}`), 400, 'invalid_cursor')
})

it('a list by any filter judges conditions, and answers HEAD, as any list', async () => {
  store(1, { rowId: 7 })
  for (const query of ['rowId=7', 'rowId=7&status=cat', 'note=x']) {
    expect((await list(query, { 'if-match': '*' })).statusCode).toBe((await list('', { 'if-match': '*' })).statusCode)
    expectError(await list(query, { 'if-match': 'x' }), 400, 'invalid_request')
    const [get, head] = [await list(query), await server.send('HEAD', `/v1/seats?${query}`)]
    expect([head.statusCode, head.headers['content-length'], head.body]).toEqual([
      200,
      get.headers['content-length'],
      '',
    ])
  }
})
