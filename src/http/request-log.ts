import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'

const givenForm = /^[\x21-\x7e]{1,128}$/
const processId = randomBytes(6).toString('base64url')
let requests = 0

/** The caller's X-Request-Id where it can stand in a log line, else one that no other process gives out. */
export function requestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && givenForm.test(given) ? given : `${processId}-${(++requests).toString(36)}`
}

/** Fastify's own log lines: none per request, but at level debug one when its response is sent. */
export class RequestLog extends LogController {
  readonly #perRequest: boolean

  constructor(level: string | undefined) {
    super({ disableRequestLogging: true })
    this.#perRequest = level === 'debug' || level === 'trace'
  }

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    if (!this.#perRequest) return
    const { id: requestId, method, url } = request
    const { statusCode, elapsedTime } = reply
    request.log.debug(
      { requestId, method, url, statusCode, elapsedMs: elapsedTime, err: error ?? undefined },
      'request',
    )
  }
}
