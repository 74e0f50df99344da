import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Redirect {
  readonly port: number
  /** From now on the address leads to another port; connections to the one before are cut. */
  to(port: number): void
}

/** An address of the test's own that a server can be given and that another one can take over, as in a failover. */
export async function startRedirect(first: number): Promise<Redirect> {
  const sockets = new Set<Socket>()
  let target = first
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {}) // `close` follows
      socket.once('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    server.close()
    cut()
  })
  function to(port: number): void {
    target = port
    cut()
  }
  return { port: (server.address() as AddressInfo).port, to }
}
