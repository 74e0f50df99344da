import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { writeToken } from '../../src/engine/http/values/tokens.ts'
import { fromStart } from '../judge/history.ts'
import { Random } from '../lib/random.ts'
import { caughtUp, followed } from './end-of-run.ts'
import { startFakeApi } from './fake-api.ts'
import { Followers, followToEnd } from './followers.ts'
import { Recorder } from './recorder.ts'

const apiKey = 'key'

/** Behind the offset `last` of partition 0. */
function idOf(last: number): string {
  return writeToken({ logId: 'log', partitions: 1 }, last < 0 ? [] : [{ partition: 0, offset: last }])
}

/** Tells two events an answer, up to the third. */
function tellTwo({ url, headers }: IncomingMessage, response: ServerResponse): void {
  const last = headers['last-event-id']
  const first = url?.endsWith('?from=start') ? 0 : [-1, 0, 1, 2].findIndex((each) => idOf(each) === last)
  response.writeHead(200).write(`retry: 1\n\nid: ${idOf(first - 1)}\n\n`)
  for (let at = first; at < Math.min(3, first + 2); at++) response.write(`id: ${idOf(at)}\ndata: {"at":${at}}\n\n`)
  response.end()
}

test('a process is followed from the start to the end, over several answers', async () => {
  const api = await startFakeApi(tellTwo)
  const recorder = new Recorder()
  expect(await followToEnd({ recorder, apiKey }, api, [3])).toBeUndefined()
  const { exchanges } = recorder
  expect(exchanges[0]).toMatchObject({ operation: 'followEvents', token: fromStart, body: [], tokenAfter: idOf(-1) })
  expect(exchanges.flatMap(({ body }) => body)).toEqual([{ at: 0 }, { at: 1 }, { at: 2 }])
})

test('a feed that does not come to the end of the log stands still', async () => {
  const api = await startFakeApi(tellTwo)
  const still = await followToEnd({ recorder: new Recorder(), apiKey }, api, [4], 300)
  expect(still).toBe('it is at 2 of partition 0, which ends at 4')
})

test('no process tells too little at the end of a run', async () => {
  const api = await startFakeApi(tellTwo)
  const record = { partition: 0, offset: 0, key: null, value: null }
  const scenario = { apis: [api], partitions: 1, readLog: async () => [record, record, record] }
  expect(await followed(scenario, new Recorder())).toEqual([])
})

test('followers remember that they asked for the start', async () => {
  const asked: (string | undefined)[] = []
  const api = await startFakeApi((request, response) => {
    asked.push(request.url)
    tellTwo(request, response)
  })
  const recorder = new Recorder()
  const followers = new Followers({ recorder, instances: [api], apiKey, random: new Random(1) }, 4)
  while (!asked.includes('/v1/events?from=start') || recorder.exchanges.length < 5) await delay(5)
  await followers.stop()
  expect(recorder.exchanges.some(({ token, body }) => token === fromStart && (body as []).length === 0)).toBe(true)
})

test('what is no event ends a run', async () => {
  const api = await startFakeApi((_, response) => response.end(`id: ${idOf(0)}\ndata: {"at":\n\n`))
  await expect(followToEnd({ recorder: new Recorder(), apiKey }, api, [3])).rejects.toThrow('{"at":')
})

test.each([
  ['all partitions are at their ends', [0, 0], true],
  ['one is behind', [0, 3], false],
  ['one is not told of', [0], false],
  ['the lag is unknown', 'unknown', false],
])('read models have caught up: %s', async (_, events, isCaughtUp) => {
  const lag = Array.isArray(events)
    ? events.map((each, partition) => ({ partition, events: each, seconds: 0 }))
    : events
  const readiness = JSON.stringify({ status: 'ok', checks: { readModels: { lag } } })
  const api = await startFakeApi((_, response) => response.end(readiness))
  const found = await caughtUp({ apis: [api], partitions: 2 }, 100)
  expect(found.map(({ rule }) => rule)).toEqual(isCaughtUp ? [] : ['the read models stay behind'])
})
