import { once } from 'node:events'
import { expect, it, onTestFinished, vi } from 'vitest'
import { watchEviction } from '../../../../src/engine/read-models/redis/eviction.ts'
import { connect } from '../../../../src/engine/read-models/redis/redis-client.ts'
import { untilReady } from '../../../../src/engine/read-models/redis/redis-connection.ts'
import { openRedisReadModels } from '../../../../src/engine/read-models/redis/redis-read-models.ts'
import { eventually } from '../../../lib/eventually.ts'
import { theatre } from '../../theatre/theatre.ts'
import { listenerOn } from '../contract/hearing.ts'
import { ScriptedRedis } from './scripted-redis.ts'

const logger = { info() {}, warn() {}, error() {} }

async function open({ url }: ScriptedRedis, openTimeoutMs?: number) {
  const store = await openRedisReadModels({
    url,
    prefix: 'test',
    version: 'v1',
    names: theatre.names,
    logger,
    openTimeoutMs,
  })
  onTestFinished(() => store.close())
  return store
}

it.each(['commands', 'announcements'] as const)(
  'a lost connection for %s puts in doubt what was heard',
  async (lost) => {
    const server = await ScriptedRedis.start()
    const store = await open(server)
    const { heard } = await listenerOn(store)
    server.close(lost)
    await vi.waitFor(() => expect(heard).toEqual(['connected', 'disconnected', 'connected']))
  },
)

const busy = '-BUSY Redis is busy running a script\r\n'

it('a start asks again whether there is a cluster where the server refuses to say for the moment', async () => {
  const server = await ScriptedRedis.start()
  const told = server.answers.cluster ?? ''
  server.answers.cluster = busy
  const opening = open(server)
  await eventually(() => expect(server.sent.get('cluster')).toBeGreaterThan(1))
  server.answers.cluster = told
  await opening
})

it('a start gives up in the words of the server that refuses to say whether it is a cluster', async () => {
  const server = await ScriptedRedis.start()
  server.answers.cluster = busy
  await expect(open(server, 500)).rejects.toThrow(/BUSY Redis is busy/)
})

it('a slot that is elsewhere, as the server is of a cluster now, is told with what to do', async () => {
  const server = await ScriptedRedis.start()
  const store = await open(server)
  server.answers.eval = '-MOVED 7 127.0.0.1:1\r\n'
  await expect(store.generations.renew()).rejects.toMatchObject({
    cause: { message: expect.stringMatching(/^MOVED .* start this process again\)$/) },
  })
})

it.each([
  ['0', ':0'],
  ['65536', ':65536'],
  ['a word', '$4\r\nport'],
])('the master of a slot is the node of the URL where the cluster tells no port, but %s', async (_, port) => {
  const server = await ScriptedRedis.start()
  server.answers.cluster = `*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n${port}\r\n`
  await open(server, 2000)
})

it.each([
  ['of the server itself', undefined],
  ['of the master of a slot', 7],
])('while the access %s cannot be read, nothing is connected, and it is tried until it can', async (_, slot) => {
  const server = await ScriptedRedis.start()
  let problem: Error | undefined
  function url() {
    if (problem !== undefined) throw problem
    return server.url.replace('//', '//user:password@')
  }
  const redis = connect({ url }, { slot })
  onTestFinished(() => redis.disconnect())
  await untilReady(redis, 5000)
  const sent = server.sent.get('auth')
  problem = new Error('the file is empty')
  const told: Error[] = []
  redis.on('error', (error) => told.push(error))
  server.close('commands')
  await eventually(() => expect(told.length).toBeGreaterThan(1))
  expect(new Set(told)).toEqual(new Set([problem]))
  expect(server.sent.get('auth')).toBe(sent)
  problem = undefined
  await eventually(() => expect(redis.status).toBe('ready'))
})

it('an access that names no password any more is used without one', async () => {
  const server = await ScriptedRedis.start()
  const urls = [server.url.replace('//', '//user:password@')]
  const redis = connect({ url: () => urls[0] ?? server.url }, {})
  onTestFinished(() => redis.disconnect())
  await untilReady(redis, 5000)
  const sent = server.sent.get('auth')
  urls.pop()
  const again = once(redis, 'ready')
  server.close('commands')
  await again
  expect(sent).toBeGreaterThan(0)
  expect(server.sent.get('auth')).toBe(sent)
})

it('a key that does not fit its certificate is a connection that fails, and is tried again', async () => {
  const server = await ScriptedRedis.start()
  const redis = connect({ url: server.url, tls: () => ({ cert: 'no certificate', key: 'no key' }) }, {})
  onTestFinished(() => redis.disconnect())
  const told: Error[] = []
  redis.on('error', (error) => told.push(error))
  await eventually(() => expect(told.length).toBeGreaterThan(1))
})

it('a policy that evicts is warned about while it lasts, whoever changes it on a running server', async () => {
  const server = await ScriptedRedis.start()
  const redis = connect({ url: server.url }, {})
  onTestFinished(() => redis.disconnect())
  await untilReady(redis, 5000)
  const warnings = watchEviction(redis, logger, undefined, 10)
  const before = server.answers.info ?? ''
  server.answers.info = '$30\r\nmaxmemory_policy:allkeys-lru\r\n\r\n'
  await eventually(() => expect(warnings()).toMatchObject([{ code: 'keys_can_be_evicted' }]))
  server.answers.info = before
  await eventually(() => expect(warnings()).toEqual([]))
})
