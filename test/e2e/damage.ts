import type { Redis } from 'ioredis'
import type { redisKeys } from '../../src/engine/read-models/redis/redis-keys.ts'

/** The read models of a service in Redis, and a pet that they show, whose key is decided in them. */
export interface Damaged {
  readonly redis: Redis
  readonly all: ReturnType<typeof redisKeys>
  readonly generation: string
  readonly petId: number
}

/** What somebody does to a stored piece. */
export type Damage = (damaged: Damaged) => Promise<unknown>

const beyond = '9007199254740993'

function keysOf({ all, generation }: Damaged) {
  return all.generation(generation)
}

async function ofAnotherType(redis: Redis, key: string, type: 'string' | 'list' = 'string'): Promise<void> {
  await redis.unlink(key)
  await (type === 'string' ? redis.set(key, 'text') : redis.rpush(key, 'text'))
}

function checkpoint(text: string): Damage {
  return async (damaged) => {
    const { checkpoints } = keysOf(damaged)
    const partition = (await damaged.redis.hkeys(checkpoints)).find((field) => /^\d+$/.test(field)) ?? '0'
    await damaged.redis.hset(checkpoints, partition, text)
  }
}

function size(text: string): Damage {
  return (damaged) => damaged.redis.hset(keysOf(damaged).sizes, 'pets', text)
}

function set(name: string): Damage {
  return (damaged) => ofAnotherType(damaged.redis, keysOf(damaged).set(name), name === 'keys' ? 'list' : 'string')
}

/** The document of the pet, in a set. */
function member(name: string, change: (member: string, id: number) => string): Damage {
  return async (damaged) => {
    const { redis, petId } = damaged
    const key = keysOf(damaged).set(name)
    const [found = ''] = await redis.zrangebyscore(key, petId, petId)
    await redis.zrem(key, found)
    await redis.zadd(key, petId, change(found, petId))
  }
}

/** The entry of the pet in the index of categories: others take its place. */
function entries(change: (entry: string) => readonly string[]): Damage {
  return async (damaged) => {
    const { redis, petId } = damaged
    const key = keysOf(damaged).set('pets:categoryId=')
    const found = (await redis.zrange(key, '0', '-1')).find((each) => each.includes(`{"id":${petId},`)) ?? ''
    await redis.zrem(key, found)
    for (const entry of change(found)) await redis.zadd(key, '0', entry)
  }
}

function texts(name: string, text: string): Damage {
  return async (damaged) => {
    const key = keysOf(damaged).set(name)
    for (const field of await damaged.redis.hkeys(key)) await damaged.redis.hset(key, field, text)
  }
}

/** Read models that must be served again, as before, by themselves. */
export const damages: Readonly<Record<string, Damage>> = {
  'a checkpoint: garbage': checkpoint('garbage'),
  'a checkpoint: -1': checkpoint('-1'),
  'a checkpoint: 1e3': checkpoint('1e3'),
  'a checkpoint: its position is 1e0': checkpoint('[1e0,0,"x",1,0,0,0,0,0]'),
  'a checkpoint: its position is negative': checkpoint('[-1,null,null,0,0,0,0,0,0]'),
  'a checkpoint: its position is beyond 2^53': checkpoint(`[${beyond},0,"x",1,0,0,0,0,0]`),
  'the checkpoints: another type': (damaged) => ofAnotherType(damaged.redis, keysOf(damaged).checkpoints),
  'a size: garbage': size('garbage'),
  'a size: -1': size('-1'),
  'a size: beyond 2^53': size(beyond),
  'the sizes: another type': (damaged) => ofAnotherType(damaged.redis, keysOf(damaged).sizes),
  'a set of documents: another type': set('pets'),
  'an index: another type': set('pets:status:available'),
  'an index of any value: another type': set('pets:categoryId='),
  'rows: another type': set('rows'),
  'history: another type': set('history'),
  'keys: another type': set('keys'),
  'parked: another type': set('parked'),
  'waiting: another type': set('waiting'),
  'a document: garbage': member('pets', () => 'garbage'),
  'a document: garbage in front of its row': member('pets', (text) => `garbage${text.slice(text.indexOf('\0'))}`),
  'a document: JSON that breaks off': member('pets', (text) => text.replace(/"status".*?\0/s, '\0')),
  'a document: of another id': member('pets', (text, id) => text.replace(`{"id":${id}`, `{"id":${id + 1}`)),
  'a document: without its row': member('pets', (text) => text.slice(0, text.indexOf('\0'))),
  'a document: its row is empty': member('pets', (text) => text.slice(0, text.indexOf('\0') + 1)),
  'a document: its row is garbage': member('pets', (text) => `${text.slice(0, text.indexOf('\0'))}\0garbage`),
  'a document: its row has a version beyond 2^53': member('pets', (text) => text.replace(/\0\d+/, `\0${beyond}`)),
  'a document of an index: garbage': member('pets:status:available', () => 'garbage'),
  'an entry of an index of any value: lost': entries(() => []),
  'an entry of an index of any value: one too many': entries((entry) => [entry, `${entry} `]),
  'an entry of an index of any value: garbage behind its id': entries((entry) => [entry.replace(/\{.*/s, 'garbage')]),
  'an entry of an index of any value: JSON of another id': entries((entry) => [entry.replace('{"id":', '{"id":9')]),
  'the records of keys: garbage': texts('keys', 'garbage'),
  'the records of keys: a number is text': texts('keys', '["1","f","s",1,1,"",0]'),
  'the active generation: another type': ({ redis, all }) => ofAnotherType(redis, all.active),
  'the active generation: names nothing': ({ redis, all }) => redis.hset(all.active, 'name', 'nothing'),
  'the active generation: has no name': ({ redis, all }) => redis.hdel(all.active, 'name'),
  'the active generation: has no log': ({ redis, all }) => redis.hdel(all.active, 'epoch'),
}
