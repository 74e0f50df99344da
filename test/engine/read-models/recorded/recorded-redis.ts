import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { openRedisReadModels } from '../../../../src/engine/read-models/redis/redis-read-models.ts'
import { versionOfLog } from '../../../../src/engine/read-models/version-of-log.ts'
import { logger } from '../../projector/projecting.ts'
import { contentsOf, logId, type RecordedAdapter, withoutTime } from './contents.ts'

/** With what was published, since processes of other releases hear it. */
export function recordedRedis(url: string): RecordedAdapter {
  return {
    name: 'redis',
    async contentsAfter({ version, names, service }, use) {
      const prefix = randomUUID()
      const client = new Redis(url)
      const hearing = await hear(client, prefix)
      const named = { url, prefix, version: versionOfLog(version, logId) }
      const store = await openRedisReadModels({ ...named, names, logger })
      const keys = async () => (await client.keys('*')).filter((key) => key.includes(prefix))
      try {
        await use(store)
        const stored = (await keys()).map(async (key) => {
          const type = await client.type(key)
          return [`${type} ${key}`, await entriesOf(client, key, type)] as const
        })
        const places = [...(await Promise.all(stored)), ...(await hearing.heard())]
        return contentsOf(places.map(([place, entries]) => [place.replace(prefix, service.name), entries]))
      } finally {
        await store.close()
        const left = await keys()
        if (left.length > 0) await client.unlink(left)
        hearing.end()
        client.disconnect()
      }
    },
  }
}

async function entriesOf(client: Redis, key: string, type: string): Promise<unknown[]> {
  if (type === 'hash') return Object.entries(await client.hgetall(key)).map((entry) => entry.map(withoutTime))
  const flat = await client.zrange(key, '0', '-1', 'WITHSCORES') // refused where the type is another
  return flat.flatMap((member, i) => (i % 2 === 0 ? [[withoutTime(flat[i + 1]), member]] : []))
}

/** Hears every channel with the prefix. What was published is heard in order, so all of it before the last. */
async function hear(client: Redis, prefix: string) {
  const subscriber = client.duplicate()
  const last = `${prefix} last`
  const messages: [channel: string, message: string][] = []
  const isOver = new Promise<void>((resolve) => {
    subscriber.on('pmessage', (_, channel, message) => {
      if (channel === last) resolve()
      else messages.push([channel, message])
    })
  })
  await subscriber.psubscribe(`*${prefix}*`)
  async function heard() {
    await client.publish(last, '')
    await isOver
    const channels = Map.groupBy(messages, ([channel]) => channel)
    return [...channels].map(([channel, all]) => [`channel ${channel}`, all.map(([, message]) => message)] as const)
  }
  return { heard, end: () => subscriber.disconnect() }
}
