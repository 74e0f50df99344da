import Fastify, { type FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { openKeyRing } from '../../src/api-keys/api-keys.ts'
import { requireApiKey } from '../../src/http/auth.ts'
import { compileRequestCheck, readOnlyJson } from '../../src/http/request-values.ts'

/**
 * Serves the routes of a reference under `/v1`, behind the service's own authentication, reading of bodies and, where a
 * route has a schema, checking of them. Prints its URL.
 */
export async function serve(addRoutes: (v1: FastifyInstance) => void): Promise<void> {
  const { API_KEYS = '' } = process.env
  const keys = openKeyRing('no-file-of-keys.json', [API_KEYS], pino({ level: 'silent' }))
  const app = Fastify()
  await app.register(
    async (v1) => {
      await requireApiKey(v1, keys.idOf)
      readOnlyJson(v1)
      v1.setValidatorCompiler(compileRequestCheck)
      addRoutes(v1)
    },
    { prefix: '/v1' },
  )
  process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
}
