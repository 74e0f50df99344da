import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { EngineErrorCode } from '../../lib/errors/engine-errors.ts'
import { ServiceError } from '../../lib/errors/errors.ts'
import { auditTo } from '../../lib/operating/audit.ts'
import { clientAddress } from './networks.ts'

/** Codes of requests refused because of who sends them, not what they ask for. */
const codes: ReadonlySet<string> = new Set<EngineErrorCode>(['unauthorized', 'insufficient_scope', 'too_many_requests'])

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether it counts in a line about several, and so needs none of its own. */
    isSummedUp: boolean
  }
}

const writtenEveryMs = 10_000
/** Lines at a time: a client with many addresses must not fill the log. */
const linesMax = 20

/** Writes one line per address and key for all requests refused within some seconds. */
export function logRefusedRequests(app: FastifyInstance, logger: Logger): void {
  const audit = auditTo(logger)
  const refused = new Map<string, { code: string; address: string; keyId: string | undefined; count: number }>()
  let others = 0

  function note(code: string, request: FastifyRequest): void {
    const address = clientAddress(request)
    const keyId = request.holder?.keyId
    const name = `${code} ${address} ${keyId}`
    const known = refused.get(name)
    if (known !== undefined) known.count++
    else if (refused.size < linesMax) refused.set(name, { code, address, keyId, count: 1 })
    else others++
  }

  function write(): void {
    const seconds = writtenEveryMs / 1000
    for (const each of refused.values()) audit('requests refused', { ...each, seconds })
    if (others > 0) audit('requests refused', { code: 'of others', count: others, seconds })
    refused.clear()
    others = 0
  }

  const timer = setInterval(write, writtenEveryMs).unref()
  app.decorateRequest('isSummedUp', false)
  app.addHook('onError', (request, _reply, error, done) => {
    if (error instanceof ServiceError && codes.has(error.code)) {
      request.isSummedUp = true
      note(error.code, request)
    }
    done()
  })
  app.addHook('onClose', async () => {
    clearInterval(timer)
    write()
  })
}
