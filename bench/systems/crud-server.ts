/**
 * A plain service on Redis, as somebody writes it who needs nothing proved: a pet is a text under its id, a list is a sorted set of ids.
 * It has the authentication of the service, and no order, no tokens, no tags and no checks of what is asked.
 *
 * `node bench/systems/crud-server.ts FORM`, in the environment of the service, with pets stored by `storeCrud`. Prints its URL.
 * FORM is `plain`, with ioredis as it is, or `pipelined`: what is asked for in one turn of the event loop is then sent at once.
 */
import Fastify from 'fastify'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { openKeyRing } from '../../src/engine/api-keys/key-ring.ts'
import { requireApiKey } from '../../src/engine/http/guards/auth.ts'
import { readCursor } from '../../src/engine/http/values/tokens.ts'
import { jsonType } from '../../src/engine/http/wire/error-replies.ts'
import { timeOfDay } from '../../src/engine/lib/clock.ts'
import { crudKeys } from './crud.ts'

interface ListQuery {
  readonly limit: string
  readonly status?: string
  readonly cursor?: string
}

const [, , form] = process.argv
const { API_KEYS = '', REDIS_URL = '', REDIS_PREFIX = '' } = process.env
const redis = new Redis(REDIS_URL, { enableAutoPipelining: form === 'pipelined' })
const keys = crudKeys(REDIS_PREFIX)
const path = 'no-file-of-keys.json'
const ring = openKeyRing({ path, given: [API_KEYS], now: timeOfDay, logger: pino({ level: 'silent' }) })
const app = Fastify()
await app.register(
  async (v1) => {
    await requireApiKey(v1, ring.find)
    v1.get<{ Params: { petId: string } }>('/pets/:petId', async (request, reply) => {
      const pet = await redis.get(keys.pet(request.params.petId))
      reply.code(pet === null ? 404 : 200).type(jsonType)
      return pet ?? '{}'
    })
    v1.get<{ Querystring: ListQuery }>('/pets', async ({ query: { limit, status, cursor } }, reply) => {
      const after = cursor === undefined ? 0 : readCursor(cursor)
      const ids = await redis.zrange(keys.list(status), `(${after}`, '+inf', 'BYSCORE', 'LIMIT', 0, limit)
      const pets = await redis.mget(ids.map(keys.pet))
      reply.type(jsonType)
      return `[${pets.join(',')}]`
    })
  },
  { prefix: '/v1' },
)
process.once('SIGTERM', () => process.exit()) // so that Node writes a profile, if it was asked for one
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
