/**
 * The reference: Fastify with the service's own authentication, and for POST its own reading and checking of bodies,
 * that answers every request with one string. Run as `node bench/systems/bare-server.ts METHOD PAYLOAD`.
 */
import Fastify from 'fastify'
import { pino } from 'pino'
import { KeyRing } from '../../src/api-keys/key-ring.ts'
import { requireApiKey } from '../../src/http/auth.ts'
import { readOnlyJson } from '../../src/http/json-body.ts'
import { jsonType } from '../../src/http/media-types.ts'
import { createPetSchema } from '../../src/http/pets-schemas.ts'
import { compileRequestCheck } from '../../src/http/request-values.ts'

const [, , method, payload = ''] = process.argv
const { API_KEYS = '' } = process.env
const keys = new KeyRing('no-file-of-keys.json', [API_KEYS], pino({ level: 'silent' }))

const app = Fastify()
await app.register(
  async (v1) => {
    await requireApiKey(v1, keys.idOf.bind(keys))
    if (method === 'POST') {
      readOnlyJson(v1)
      v1.setValidatorCompiler(compileRequestCheck)
      v1.post('/pets', { schema: { body: createPetSchema.body } }, (_request, reply) => {
        reply.code(201).type(jsonType).send(payload)
      })
    } else {
      for (const path of ['/pets', '/pets/:petId']) {
        v1.get(path, (_request, reply) => {
          reply.type(jsonType).send(payload)
        })
      }
    }
  },
  { prefix: '/v1' },
)
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
