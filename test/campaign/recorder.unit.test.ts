import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Recorder } from './recorder.ts'
import type { Supervised } from './system/supervised.ts'

const getPet = { session: undefined, operation: 'getPet', id: 1, apiKey: 'key' } as const

const server = createServer((_, response) => server.emit('asked', response))
let api: Supervised

beforeEach(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  api = { name: 'api-1', instance: 'api-1#1', url } as Supervised
})

afterEach(async () => {
  server.closeAllConnections()
  await once(server.close(), 'close')
})

async function asked(): Promise<ServerResponse> {
  const [response] = await once(server, 'asked')
  return response
}

test('what was asked before all was forgotten is not kept when it is answered', async () => {
  const heard: number[] = []
  const recorder = new Recorder(({ number }) => heard.push(number))

  const [first, before] = [asked(), recorder.ask(api, getPet)]
  const open = await first
  recorder.forget()
  open.end('{}')
  await before
  const [second, after] = [asked(), recorder.ask(api, getPet)]
  ;(await second).end('{}')
  await after

  expect(heard).toEqual([0, 1])
  expect(recorder.exchanges.map(({ number }) => number)).toEqual([1])
})

test('a 304 shows what the client has', async () => {
  const recorder = new Recorder()
  const cached = { tag: '"1"', body: { id: 1 } }
  const [request, answer] = [once(server, 'request'), recorder.ask(api, { ...getPet, cached })]
  const [{ headers }, response] = await request
  response.writeHead(304, { etag: cached.tag }).end()
  expect(headers['if-none-match']).toBe(cached.tag)
  expect(await answer).toMatchObject({ status: 304, body: cached.body, tag: cached.tag })
})

test.each([
  ['text', getPet, 200, 'Hello', {}],
  ['null', getPet, 200, 'null', {}],
  ['half of a pet', getPet, 200, '{"id":', {}],
  ['a list', getPet, 200, '[]', {}],
  ['no list', { ...getPet, operation: 'listEvents' } as const, 200, '{}', {}],
  ['no link', { ...getPet, operation: 'listEvents' } as const, 200, '[]', { link: '</v1/pets>' }],
  ['nothing for an error', getPet, 500, '', {}],
  ['no code', getPet, 503, '{"message":"","status":503}', {}],
  ['another status', getPet, 503, '{"code":"","message":"","status":500}', {}],
  ['a 304 without a condition', getPet, 304, '', {}],
])('an answer is malformed: %s', async (_, question, status, text, headers: { link?: string }) => {
  const recorder = new Recorder()
  const [open, answer] = [asked(), recorder.ask(api, question)]
  const response = await open
  response.writeHead(status, headers).end(text)
  expect(await answer).toMatchObject({ status: undefined, malformed: expect.stringContaining(headers.link ?? text) })
  expect(recorder.exchanges).toHaveLength(1)
})

test('an answer is lost with its connection', async () => {
  const recorder = new Recorder()
  const [open, answer] = [asked(), recorder.ask(api, getPet)]
  const response = await open
  response.writeHead(200, { 'content-length': 100 }).write('{"id":')
  response.destroy()
  expect(await answer).toMatchObject({ status: undefined })
  expect(recorder.exchanges[0]?.malformed).toBeUndefined()
})
