import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { openRedisReadModels } from '../../src/read-models/redis/redis-read-models.ts'
import type { ReadModelStore } from '../../src/read-models/store.ts'
import { type RedisServer, startRedis } from '../brokers/brokers.ts'
import { describeWithOwnBrokers } from '../brokers/describe.ts'
import { Link } from '../brokers/link.ts'
import { eventually } from '../lib/eventually.ts'
import { progressOf } from './contract/hearing.ts'
import { added, applyAll, batchAfter, firstBatch, home, idsIn, newGeneration, pet } from './contract/samples.ts'
import { everyCall } from './contract/stores.ts'
import { openHeard, silentLogger } from './redis-fixture.ts'

const first = firstBatch({ documents: added(pet(1, ['a'])) })
const second = batchAfter(first, { documents: added(pet(2, ['a'])) })

/** Every method, many times at once, fails with the code of the catalogue within two seconds. */
async function expectUnavailable(store: ReadModelStore, generation: string): Promise<void> {
  const before = performance.now()
  const asked = Object.values(everyCall).flatMap((call) => Array.from({ length: 20 }, () => call(store, generation)))
  for (const result of await Promise.allSettled(asked)) {
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'read_model_unavailable' } })
  }
  expect(performance.now() - before).toBeLessThan(2000)
}

/** Reads in many groups, asked for at once and one after the other, fail within one second each. */
async function expectReadsUnavailable(store: ReadModelStore, generation: string): Promise<void> {
  const asked: Promise<void>[] = []
  async function ask(name: string): Promise<void> {
    const before = performance.now()
    const read = store.reads.page(name, { collection: home, index: 'a', after: 0, limit: 10 })
    await expect(read).rejects.toMatchObject({ code: 'read_model_unavailable' })
    expect(performance.now() - before).toBeLessThan(1000)
  }
  for (let turn = 0; turn < 60; turn++) {
    for (let i = turn === 0 ? 300 : 20; i > 0; i--) asked.push(ask(i % 50 === 1 ? 'another' : generation))
    await setTimeout(10)
  }
  await Promise.all(asked)
}

const outages = [
  { how: 'killed', begin: (server: RedisServer) => server.kill(), end: (server: RedisServer) => server.start() },
  { how: 'paused', begin: (server: RedisServer) => server.pause(), end: (server: RedisServer) => server.resume() },
]
const _soon = { timeout: 10_000 }
const portOf = ({ url }: Pick<RedisServer, 'url'>) => Number(new URL(url).port)

describeWithOwnBrokers('redis read models on a failing server', () => {
  let server: RedisServer
  let store: ReadModelStore
  let generation: string
  let heard: unknown[]
  const logger = silentLogger()
  const logged = () => [logger.warn, logger.info].map(({ mock }) => mock.calls.map((call) => call.at(-1)))

  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.remove())

  beforeEach(async () => {
    vi.clearAllMocks()
    const options = { url: server.url, prefix: newGeneration().name, version: 'v1', logger }
    ;({ store, generation, heard } = await openHeard(options, first))
  })
  afterEach(() => store.close())

  it.each(outages)('$how: unavailable within two seconds, and all is well once it is back', async ({ begin, end }) => {
    await begin(server)
    await expectUnavailable(store, generation)
    await eventually(() => expect(heard).toEqual(['connected', 'disconnected']))
    await eventually(() => expect(logger.warn).toHaveBeenCalled())
    await expectUnavailable(store, generation)
    await end(server)
    await eventually(() => expect(heard).toEqual(['connected', 'disconnected', 'connected']))
    await eventually(() => store.generations.active())
    expect(await idsIn(store, generation)).toEqual([1])
    await applyAll(store, generation, second)
    await eventually(() => expect(heard.at(-1)).toEqual(progressOf(generation, second)))
    const address = new URL(server.url).host
    expect(logged()).toEqual([
      [`Redis at ${address}: connection lost, reconnecting`],
      [`Redis at ${address}: connected again`],
    ])
  })

  it.each(outages)(
    '$how: however many reads there are, each is unavailable within one second',
    async ({ begin, end }) => {
      await begin(server)
      await expectReadsUnavailable(store, generation)
      await end(server)
      await eventually(() => store.generations.active())
      expect(await idsIn(store, generation)).toEqual([1])
    },
  )

  it('paused for a moment: goes on over the same connections', async () => {
    await server.pause()
    await expect(everyCall.page?.(store, generation)).rejects.toMatchObject({ code: 'read_model_unavailable' })
    await server.resume()
    await eventually(() => store.generations.active())
    expect(await idsIn(store, generation)).toEqual([1])
    expect(logged()).toEqual([[], []])
  })

  it('closing does not wait for a server that does not answer', async () => {
    await server.pause()
    const before = performance.now()
    await store.close()
    expect(performance.now() - before).toBeLessThan(2000)
    await eventually(() => expect(heard).toEqual(['connected', 'disconnected']))
    await server.resume()
  })

  it('only the connection for commands is lost: what was seen is in doubt, as the next server may have less', async () => {
    const client = new Redis(server.url)
    await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await client.quit()
    await eventually(() => expect(heard).toEqual(['connected', 'disconnected', 'connected']))
  })

  it('no memory left: unavailable, having written nothing', async () => {
    const client = new Redis(server.url)
    await client.config('SET', 'maxmemory', '1')
    await expect(store.projection.apply(generation, second)).rejects.toMatchObject({ code: 'read_model_unavailable' })
    expect(await idsIn(store, generation)).toEqual([1])
    await client.config('SET', 'maxmemory', '0')
    await applyAll(store, generation, second)
    await client.quit()
  })
})

describeWithOwnBrokers('opening redis read models', () => {
  const servers: RedisServer[] = []
  const logger = silentLogger()
  beforeEach(() => vi.clearAllMocks())
  afterEach(async () => {
    vi.useRealTimers()
    for (const server of servers.splice(0)) await server.remove()
  })

  async function start(...args: string[]): Promise<RedisServer> {
    const server = await startRedis({ args })
    servers.push(server)
    return server
  }

  const open = (url: string) => openRedisReadModels({ url, prefix: 'test', version: 'v1', home, logger })

  async function urlOfUser(server: RedisServer, ...rules: string[]): Promise<string> {
    const client = new Redis(server.url)
    await client.call('ACL', 'SETUSER', 'petstore', 'on', '>secret', '~*', '&*', '+@all', ...rules)
    await client.quit()
    return server.url.replace('redis://', 'redis://petstore:secret@')
  }

  it('waits for a server that has not started yet', async () => {
    const server = await start()
    await server.stop()
    const opening = open(server.url)
    await server.start()
    const store = await opening
    expect(await store.generations.active()).toBeUndefined()
    await store.close()
  })

  it('gives up on a server that does not come, and says what to do', async () => {
    const server = await start()
    await server.stop()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const opening = open(server.url)
    const refused = expect(opening).rejects.toThrow(/did not answer for 30 s: start it, or correct its URL/)
    await vi.advanceTimersByTimeAsync(30_000)
    await refused
  })

  it.each([
    ['whether it is of a cluster', /CLUSTER/i],
    ['what it evicts', /memory/i],
  ])('waits for a server that stops answering once it is connected, asked %s', async (_, question) => {
    let held = 0
    const { url } = await start()
    const link = await Link.to(portOf({ url }), async function* (sent) {
      for await (const data of sent) {
        if (question.test(String(data)) && held++ === 0) await setTimeout(700) // a command waits for 500 ms
        yield data
      }
    })
    onTestFinished(() => link.close())
    await open(`redis://127.0.0.1:${link.port}`)
    expect(held).toBeGreaterThan(1)
  })

  it('looks at the policy of each server that it is connected to later, and goes on', async () => {
    const [first, second] = await Promise.all([start(), start('--maxmemory-policy', 'allkeys-lru')])
    const link = await Link.to(portOf(first))
    onTestFinished(() => link.close())
    const store = await open(`redis://127.0.0.1:${link.port}`)
    expect(store.warnings).toEqual([])
    link.turnTo(portOf(second))
    await eventually(() => expect(store.warnings).toMatchObject([{ code: 'keys_can_be_evicted' }]))
    expect(logger.error).toHaveBeenCalledExactlyOnceWith(
      { code: 'keys_can_be_evicted' },
      expect.stringMatching(/has maxmemory-policy allkeys-lru, .*CONFIG SET maxmemory-policy noeviction/),
    )
    expect(await store.generations.active()).toBeUndefined()
    link.turnTo(portOf(first))
    await eventually(() => expect(store.warnings).toEqual([]))
    await store.close()
  })

  it('warns where the policy cannot be read', async () => {
    const server = await start()
    const url = await urlOfUser(server, '-config', '-info')
    vi.spyOn(console, 'warn').mockImplementation(() => {}) // ioredis tells that it skips its ready check
    const store = await open(url)
    expect(logger.warn).toHaveBeenCalledExactlyOnceWith(
      { code: 'eviction_policy_unknown' },
      expect.stringContaining('maxmemory-policy cannot be read'),
    )
    expect(store.warnings).toMatchObject([{ code: 'eviction_policy_unknown' }])
    await store.close()
  })

  const evicts = /has maxmemory-policy volatile-ttl, .*CONFIG SET maxmemory-policy noeviction/
  it.each<[string, rules: string[], password: string, RegExp]>([
    ['evicts keys, also where CONFIG is forbidden', ['-config'], 'secret', evicts],
    ['evicts keys, also where INFO is forbidden', ['-info'], 'secret', evicts],
    ['refuses the password', [], 'wrong', /refuses the connection \(WRONGPASS/],
  ])('refuses a server at once that %s, and says what to do', async (_, rules, password, message) => {
    vi.spyOn(console, 'warn').mockImplementation(() => {}) // ioredis tells where it skips its ready check
    const url = await urlOfUser(await start('--maxmemory-policy', 'volatile-ttl'), ...rules)
    await expect(open(url.replace('secret', password))).rejects.toThrow(message)
  })
})
