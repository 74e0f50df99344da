import { expect, it, onTestFinished, vi } from 'vitest'
import { openRedisReadModels } from '../../../../src/engine/read-models/redis/redis-read-models.ts'
import { listenerOn } from '../contract/hearing.ts'
import { ScriptedRedis } from './scripted-redis.ts'

const logger = { info() {}, warn() {}, error() {} }

it.each(['commands', 'announcements'] as const)(
  'a lost connection for %s puts in doubt what was heard',
  async (lost) => {
    const server = await ScriptedRedis.start()
    const store = await openRedisReadModels({ url: server.url, prefix: 'test', version: 'v1', home: 'seats', logger })
    onTestFinished(() => store.close())
    const { heard } = await listenerOn(store)
    server.close(lost)
    await vi.waitFor(() => expect(heard).toEqual(['connected', 'disconnected', 'connected']))
  },
)
