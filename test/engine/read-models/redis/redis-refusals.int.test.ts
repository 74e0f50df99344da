import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { connect as connectTo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { checkRedis } from '../../../../src/engine/read-models/redis/check-redis.ts'
import { connect } from '../../../../src/engine/read-models/redis/redis-client.ts'
import { untilReady } from '../../../../src/engine/read-models/redis/redis-connection.ts'
import { openRedisReadModels } from '../../../../src/engine/read-models/redis/redis-read-models.ts'
import { describeWithLocalBrokers } from '../../../brokers/describe.ts'
import { startRedis } from '../../../brokers/processes.ts'
import { askRedis } from '../../../brokers/ready.ts'
import { eventually } from '../../../lib/eventually.ts'
import { theatre } from '../../theatre/theatre.ts'
import { silentLogger } from './redis-fixture.ts'

async function start(...args: string[]) {
  const server = await startRedis({ args })
  onTestFinished(() => server.remove())
  return server
}

/** What a start says that waits for a moment. */
async function refusalOf(url: string): Promise<string> {
  const redis = connect({ url }, {})
  onTestFinished(() => redis.disconnect())
  return await untilReady(redis, 1000).then(
    () => 'ready',
    ({ message }: Error) => message,
  )
}

async function findingsOf(url: string) {
  const findings = await checkRedis({ url, prefix: 'theatre' })
  return findings.filter(({ state }) => state === 'failed').map(({ detail }) => detail)
}

/** What the log has of a write that is refused: the causes of the error. */
async function loggedOf(url: string): Promise<unknown> {
  const logger = silentLogger()
  const store = await openRedisReadModels({ url, prefix: 'theatre', version: 'v1', names: theatre.names, logger })
  onTestFinished(() => store.close())
  return await store.generations.start({ name: 'one', logId: 'log' }, undefined).catch(({ cause }) => cause.message)
}

/** Takes the only connection that is left, until it is ended. */
async function occupy(url: string) {
  const socket = connectTo(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write('PING\r\n')
  await once(socket, 'data')
  return socket
}

describeWithLocalBrokers('what a Redis says that answers, but does not serve, with what to do:', () => {
  it('it has too many clients, at a start, for the doctor, and in the log of a running process', async () => {
    const { url } = await start('--maxclients', '2')
    const advice = /refuses this client \(ERR max number of clients reached\): raise its maxclients/
    const logger = silentLogger()
    const store = await openRedisReadModels({ url, prefix: 'theatre', version: 'v1', names: theatre.names, logger })
    onTestFinished(() => store.close())
    expect(await refusalOf(url)).toMatch(advice)
    expect(await findingsOf(url)).toEqual([expect.stringMatching(advice)])
  })

  it('it lost the client, and has no room for it any more', async () => {
    const { url } = await start('--maxclients', '3')
    const logger = silentLogger()
    const store = await openRedisReadModels({ url, prefix: 'theatre', version: 'v1', names: theatre.names, logger })
    onTestFinished(() => store.close())
    const admin = await occupy(url)
    admin.write('CONFIG SET maxclients 1\r\nCLIENT KILL TYPE pubsub\r\nCLIENT KILL TYPE normal SKIPME yes\r\n')
    const advice = expect.stringMatching(/refuses this client \(ERR max number of clients reached\): raise/)
    await eventually(() => expect(logger.warn).toHaveBeenCalledWith(advice))
  })

  it('it wants a password', async () => {
    const { url } = await start()
    await askRedis(url, (redis) => redis.config('SET', 'requirepass', 'secret'))
    expect(await refusalOf(url)).toMatch(/refuses the connection \(NOAUTH .*: check user, password/)
  })

  it('it refuses writes as it lacks replicas', async () => {
    const { url } = await start('--min-replicas-to-write', '1')
    const remedy = /NOREPLICAS .*start its replicas, or lower its min-replicas-to-write/
    expect(await findingsOf(url)).toEqual([expect.stringMatching(remedy)])
    expect(await loggedOf(url)).toMatch(remedy)
  })

  it('it refuses writes as its memory is full', async () => {
    const { url } = await start('--maxmemory', '1')
    expect(await findingsOf(url)).toEqual([expect.stringMatching(/^It refuses writes \(OOM .*: raise its maxmemory/)])
  })

  it('it refuses writes as it cannot save its data', async () => {
    const { url } = await start('--appendonly', 'no', '--save', '3600 1', '--dbfilename', 'taken')
    await askRedis(url, async (redis) => {
      const [, folder = ''] = (await redis.config('GET', 'dir')) as string[]
      mkdirSync(join(folder, 'taken', 'as a folder'), { recursive: true })
      await redis.set('a', '1')
      await redis.bgsave()
      await eventually(async () => expect(await redis.info('persistence')).toContain('rdb_last_bgsave_status:err'))
    })
    const remedy = /MISCONF .*its own log says why/
    expect(await findingsOf(url)).toEqual([expect.stringMatching(remedy)])
    expect(await loggedOf(url)).toMatch(remedy)
  })

  it('it is loading its data', async () => {
    const slow = ['--key-load-delay', '20000', '--loading-process-events-interval-bytes', '1024']
    const server = await start('--appendonly', 'no', '--save', '3600 1', '--rdbcompression', 'no', ...slow)
    const values = Object.fromEntries([...Array(200).keys()].map((n) => [n, 'x'.repeat(2000)]))
    await askRedis(server.url, (redis) => redis.mset(values))
    await server.stop()
    const started = server.start()
    await eventually(async () =>
      expect(await refusalOf(server.url)).toMatch(/is still loading its data \(\d+\.\d+ %\)/),
    )
    await started
  })

  it('it takes writes, and a look changes nothing', async () => {
    const { url } = await start()
    expect(await findingsOf(url)).toEqual([])
    expect(await askRedis(url, (redis) => redis.dbsize())).toBe(0)
    await askRedis(url, (redis) => redis.zadd('theatre:versions', 1, 'v1'))
    expect(await findingsOf(url)).toEqual([])
  })
})
