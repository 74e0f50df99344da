import { expect, test } from 'vitest'
import { startFakeApi } from './fake-api.ts'
import { Recorder } from './recorder.ts'

const getPet = { session: undefined, operation: 'getPet', id: 1, apiKey: 'key' } as const
const listEvents = { ...getPet, operation: 'listEvents' } as const

test('what was asked before all was forgotten is not kept when it is answered', async () => {
  const heard: number[] = []
  const recorder = new Recorder(({ number }) => heard.push(number))
  const api = await startFakeApi((_, response) => {
    if (heard.length === 0) recorder.forget()
    response.end('{}')
  })
  await recorder.ask(api, getPet)
  await recorder.ask(api, getPet)
  expect(heard).toEqual([0, 1])
  expect(recorder.exchanges.map(({ number }) => number)).toEqual([1])
})

test('a 304 shows what the client has', async () => {
  const cached = { tag: '"1"', body: { id: 1 } }
  const api = await startFakeApi(({ headers }, response) => {
    const isCached = headers['if-none-match'] === cached.tag
    response.writeHead(isCached ? 304 : 500, { etag: cached.tag }).end()
  })
  const answer = await new Recorder().ask(api, { ...getPet, cached })
  expect(answer).toMatchObject({ status: 304, body: cached.body, tag: cached.tag })
})

test.each([
  ['text', getPet, 200, 'Hello', {}],
  ['null', getPet, 200, 'null', {}],
  ['half of a pet', getPet, 200, '{"id":', {}],
  ['a list', getPet, 200, '[]', {}],
  ['no list', listEvents, 200, '{}', {}],
  ['no link', listEvents, 200, '[]', { link: '</v1/pets>' }],
  ['nothing for an error', getPet, 500, '', {}],
  ['no code', getPet, 503, '{"message":"","status":503}', {}],
  ['another status', getPet, 503, '{"code":"","message":"","status":500}', {}],
  ['a 304 without a condition', getPet, 304, '', {}],
])('an answer is malformed: %s', async (_, question, status, text, headers: { link?: string }) => {
  const recorder = new Recorder()
  const api = await startFakeApi((_, response) => response.writeHead(status, headers).end(text))
  const malformed = expect.stringContaining(headers.link ?? text)
  expect(await recorder.ask(api, question)).toMatchObject({ status: undefined, malformed })
  expect(recorder.exchanges).toHaveLength(1)
})

test('an answer is lost with its connection', async () => {
  const recorder = new Recorder()
  const api = await startFakeApi((_, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{"id":')
    response.destroy()
  })
  expect(await recorder.ask(api, getPet)).toMatchObject({ status: undefined })
  expect(recorder.exchanges[0]?.malformed).toBeUndefined()
})
