import { once } from 'node:events'
import type { Server } from 'node:http'
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
