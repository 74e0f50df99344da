import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

const givenForm = /^[\x21-\x7e]{1,128}$/
const processId = randomBytes(6).toString('base64url')
let requests = 0

/** The caller's X-Request-Id where it can stand in a log line, else one that no other process gives out. */
export function requestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && givenForm.test(given) ? given : `${processId}-${(++requests).toString(36)}`
}

/** One line when a response is sent, at level debug: Fastify's own would be made for every request at any level. */
export function addRequestLog(app: FastifyInstance, logger: FastifyBaseLogger): void {
  if (logger.level !== 'debug' && logger.level !== 'trace') return
  app.addHook('onResponse', ({ id: requestId, method, url }, { statusCode, elapsedTime }, done) => {
    logger.debug({ requestId, method, url, statusCode, elapsedMs: elapsedTime }, 'request')
    done()
  })
}
