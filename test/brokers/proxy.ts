import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Stands before a broker, which may advertise it. */
export interface TcpProxy {
  readonly port: number
  /** From now on it leads to another port; connections to the one before are cut. */
  to(port: number): void
  /** Keeps back requests of one kind, by its key in the protocol of Kafka, and what comes behind them on their connections. */
  hold(apiKey: number): Hold
  close(): Promise<void>
}

export interface Hold {
  /** Resolves once a request is kept back. */
  readonly arrived: Promise<void>
  release(): void
}

export interface ProxyOptions {
  readonly target: number
  /** A free one where none is given. */
  readonly port?: number
  /** Before a Kafka: needed to hold requests. */
  readonly isKafka?: boolean
}

/** Leads to port `target`. */
export async function startProxy({ target, port = 0, isKafka = false }: ProxyOptions): Promise<TcpProxy> {
  let leadsTo = target
  let held: { apiKey: number; arrive: () => void; released: Promise<void> } | undefined
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const broker = connect(leadsTo, '127.0.0.1')
    for (const [socket, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {}) // `close` follows
      socket.once('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    broker.pipe(client)
    void forward(client, broker)
  })

  async function forward(client: Socket, broker: Socket): Promise<void> {
    try {
      for await (const request of isKafka ? requestsOf(client) : (client as AsyncIterable<Buffer>)) {
        if (held?.apiKey === request.readInt16BE(sizeBytes)) {
          held.arrive()
          await held.released
        }
        broker.write(request)
      }
    } catch {
      // the client is gone
    }
  }
  function cut(): void {
    for (const socket of sockets) socket.destroy()
  }

  await once(server.listen(port, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    to: (next) => {
      leadsTo = next
      cut()
    },
    hold: (apiKey) => {
      const arrival = Promise.withResolvers<void>()
      const release = Promise.withResolvers<void>()
      held = { apiKey, arrive: arrival.resolve, released: release.promise }
      return {
        arrived: arrival.promise,
        release: () => {
          held = undefined
          release.resolve()
        },
      }
    },
    close: async () => {
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}

const sizeBytes = 4

/** Whole requests: each has its size before it. */
async function* requestsOf(client: Socket): AsyncGenerator<Buffer> {
  let bytes = Buffer.alloc(0)
  for await (const chunk of client as AsyncIterable<Buffer>) {
    bytes = Buffer.concat([bytes, chunk])
    while (bytes.length >= sizeBytes && bytes.length >= sizeBytes + bytes.readInt32BE()) {
      const end = sizeBytes + bytes.readInt32BE()
      yield bytes.subarray(0, end)
      bytes = bytes.subarray(end)
    }
  }
}
