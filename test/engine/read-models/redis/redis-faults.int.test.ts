import { setTimeout } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { openRedisReadModels } from '../../../../src/engine/read-models/redis/redis-read-models.ts'
import { type RedisServer, startRedis } from '../../../brokers/brokers.ts'
import { describeWithOwnBrokers } from '../../../brokers/describe.ts'
import { Link, type Passage } from '../../../brokers/link.ts'
import { askRedis, freePort } from '../../../brokers/ready.ts'
import { eventually } from '../../../lib/eventually.ts'
import { progressOf } from '../contract/hearing.ts'
import { added, applyAll, batchAfter, firstBatch, idsIn, names, newGeneration, seat } from '../contract/samples.ts'
import { everyCall } from '../contract/stores.ts'
import { numbers } from '../contract/values.ts'
import { openHeard, silentLogger } from './redis-fixture.ts'

const first = firstBatch({ documents: added(seat(1, ['a'])) })
const second = batchAfter(first, { documents: added(seat(2, ['a'])) })

/** Every method, many times at once, fails with the code of the catalogue: reads within a second, others within two. */
async function expectUnavailable(store: ReadModelStore, generation: string): Promise<void> {
  const asked = Object.entries(everyCall).flatMap(([name, call]) =>
    numbers(20).map(async () => {
      const before = performance.now()
      await expect(call(store, generation)).rejects.toMatchObject({ code: 'read_model_unavailable' })
      const isRead = ['find', 'page', 'load of a request'].includes(name)
      expect(performance.now() - before, name).toBeLessThan(isRead ? 1000 : 2000)
    }),
  )
  await Promise.all(asked)
}

const outages = [
  { how: 'killed', begin: (server: RedisServer) => server.kill(), end: (server: RedisServer) => server.start() },
  { how: 'paused', begin: (server: RedisServer) => server.pause(), end: (server: RedisServer) => server.resume() },
]

describeWithOwnBrokers('redis read models', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.remove())
  beforeEach(() => vi.clearAllMocks())

  const logger = silentLogger()
  const set = (name: string, value: string) => askRedis(server.url, (redis) => redis.config('SET', name, value))

  describe('on a failing server', () => {
    let store: ReadModelStore
    let generation: string
    let heard: unknown[]
    const logged = () => [logger.warn, logger.info].map(({ mock }) => mock.calls.map((call) => call.at(-1)))

    beforeEach(async () => {
      const options = { url: server.url, prefix: newGeneration().name, version: 'v1', logger }
      ;({ store, generation, heard } = await openHeard(options, first))
    })
    afterEach(() => store.close())

    it.each(outages)('$how: unavailable in time, and all is well once it is back', async ({ begin, end }) => {
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
      await askRedis(server.url, (redis) => redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'))
      await eventually(() => expect(heard).toEqual(['connected', 'disconnected', 'connected']))
    })

    it('no memory left: unavailable, having written nothing', async () => {
      await set('maxmemory', '1')
      await expect(store.projection.apply(generation, second)).rejects.toMatchObject({ code: 'read_model_unavailable' })
      expect(await idsIn(store, generation)).toEqual([1])
      await set('maxmemory', '0')
      await applyAll(store, generation, second)
    })
  })

  describe('being opened', () => {
    afterEach(async () => {
      vi.useRealTimers()
      await set('maxmemory-policy', 'noeviction')
    })

    async function open(url: string): Promise<ReadModelStore> {
      const store = await openRedisReadModels({ url, prefix: 'test', version: 'v1', names, logger })
      onTestFinished(() => store.close())
      return store
    }

    async function urlOfUser(...rules: string[]): Promise<string> {
      const all = ['reset', 'on', '>secret', '~*', '&*', '+@all', ...rules]
      await askRedis(server.url, (redis) => redis.call('ACL', 'SETUSER', 'theatre', ...all))
      return server.url.replace('redis://', 'redis://theatre:secret@')
    }

    async function linkToServer(pass?: Passage['there']) {
      const link = await Link.to(Number(new URL(server.url).port), () => (pass === undefined ? {} : { there: pass }))
      onTestFinished(() => link.close())
      return { link, url: `redis://127.0.0.1:${link.port}` }
    }

    it('wait for a server that has not started yet', async () => {
      await server.stop()
      const opening = open(server.url)
      await server.start()
      expect(await (await opening).generations.active()).toBeUndefined()
    })

    it('give up on a server that does not come, and say what to do', async () => {
      const url = `redis://127.0.0.1:${await freePort()}`
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      const refused = expect(open(url)).rejects.toThrow(/did not answer for 30 s: start it, or correct its URL/)
      await vi.advanceTimersByTimeAsync(30_000)
      await refused
    })

    it.each([
      ['whether it is of a cluster', /CLUSTER/i],
      ['what it evicts', /memory/i],
    ])('wait for a server that stops answering once it is connected, asked %s', async (_, question) => {
      let held = 0
      const { url } = await linkToServer(async function* (sent) {
        for await (const data of sent) {
          if (question.test(String(data)) && held++ === 0) await setTimeout(700) // a command waits for 500 ms
          yield data
        }
      })
      await open(url)
      expect(held).toBeGreaterThan(1)
    })

    it('look at the policy of each server that they are connected to later, and go on', async () => {
      const { link, url } = await linkToServer()
      const store = await open(url)
      expect(store.warnings).toEqual([])
      const reconnected = async (policy: string) => {
        await set('maxmemory-policy', policy)
        link.disturb({ kind: 'cut' })
        link.heal()
      }
      await reconnected('allkeys-lru')
      await eventually(() => expect(store.warnings).toMatchObject([{ code: 'keys_can_be_evicted' }]))
      expect(logger.error).toHaveBeenCalledExactlyOnceWith(
        { code: 'keys_can_be_evicted' },
        expect.stringMatching(/has maxmemory-policy allkeys-lru, .*CONFIG SET maxmemory-policy noeviction/),
      )
      expect(await store.generations.active()).toBeUndefined()
      await reconnected('noeviction')
      await eventually(() => expect(store.warnings).toEqual([]))
    })

    it('warn where the policy cannot be read', async () => {
      vi.spyOn(console, 'warn').mockImplementation(() => {}) // ioredis tells that it skips its ready check
      const store = await open(await urlOfUser('-config', '-info'))
      expect(logger.warn).toHaveBeenCalledExactlyOnceWith(
        { code: 'eviction_policy_unknown' },
        expect.stringContaining('maxmemory-policy cannot be read'),
      )
      expect(store.warnings).toMatchObject([{ code: 'eviction_policy_unknown' }])
    })

    const evicts = /has maxmemory-policy volatile-ttl, .*CONFIG SET maxmemory-policy noeviction/
    it.each<[string, rules: string[], password: string, RegExp]>([
      ['evicts keys, also where CONFIG is forbidden', ['-config'], 'secret', evicts],
      ['evicts keys, also where INFO is forbidden', ['-info'], 'secret', evicts],
      ['refuses the password', [], 'wrong', /refuses the connection \(WRONGPASS/],
    ])('refuse a server at once that %s, and say what to do', async (_, rules, password, message) => {
      vi.spyOn(console, 'warn').mockImplementation(() => {}) // ioredis tells where it skips its ready check
      await set('maxmemory-policy', 'volatile-ttl')
      const url = await urlOfUser(...rules)
      await expect(open(url.replace('secret', password))).rejects.toThrow(message)
    })
  })
})
