import { once } from 'node:events'
import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'

/**
 * Stops listening and resolves once every connection is closed. Requests that are on their way are still answered, and
 * each answer asks its client to close the connection (`AppServices.draining`). Connections on which nothing comes are
 * closed after `idleMs`.
 */
export async function drain(server: Server, idleMs: number): Promise<void> {
  const closed = once(server, 'close')
  // The HTTP server's own close ends idle connections at once, and with them the requests just sent on them.
  NetServer.prototype.close.call(server)
  const idle = setInterval(() => server.closeIdleConnections(), idleMs)
  await closed
  clearInterval(idle)
}

/**
 * The class of a server's responses: each asks its client to close the connection if it `isClosing` when the response is
 * sent. A hook of Fastify would do, at several times the cost, and would miss what is answered before hooks run.
 */
export function closingResponse(isClosing: () => boolean) {
  return class<Request extends IncomingMessage> extends ServerResponse<Request> {
    override writeHead(status: number, ...rest: never[]): this {
      if (isClosing()) this.setHeader('connection', 'close')
      return super.writeHead(status, ...rest)
    }
  }
}
