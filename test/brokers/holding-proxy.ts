import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** Stands before a broker, which advertises it, and can keep requests back. */
export interface HoldingProxy {
  /** Keeps back requests of one kind, by its key in the protocol of Kafka, and what comes behind them on their connections. */
  hold(apiKey: number): Hold
  close(): Promise<void>
}

export interface Hold {
  /** Resolves once a request is kept back. */
  readonly arrived: Promise<void>
  release(): void
}

interface Held extends Hold {
  readonly apiKey: number
  readonly arrive: () => void
  readonly released: Promise<void>
}

export async function startHoldingProxy(port: number, brokerPort: number): Promise<HoldingProxy> {
  let held: Held | undefined
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const broker = connect(brokerPort, '127.0.0.1')
    for (const socket of [client, broker]) {
      sockets.add(socket)
      socket.on('error', () => {}) // 'close' follows
    }
    client.once('close', () => broker.destroy())
    broker.once('close', () => client.destroy())
    broker.pipe(client)
    void forward(client, broker)
  })

  async function forward(client: Socket, broker: Socket): Promise<void> {
    for await (const request of requestsOf(client)) {
      if (held?.apiKey === request.readInt16BE(sizeBytes)) {
        held.arrive()
        await held.released
      }
      broker.write(request)
    }
  }

  await once(server.listen(port, '127.0.0.1'), 'listening')
  return {
    hold: (apiKey) => {
      const arrival = Promise.withResolvers<void>()
      const release = Promise.withResolvers<void>()
      held = {
        apiKey,
        arrived: arrival.promise,
        arrive: arrival.resolve,
        released: release.promise,
        release: () => {
          held = undefined
          release.resolve()
        },
      }
      return held
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

const sizeBytes = 4

/** Whole requests: each has its size before it. */
async function* requestsOf(client: Socket): AsyncGenerator<Buffer> {
  let bytes = Buffer.alloc(0)
  try {
    for await (const chunk of client as AsyncIterable<Buffer>) {
      bytes = Buffer.concat([bytes, chunk])
      while (bytes.length >= sizeBytes && bytes.length >= sizeBytes + bytes.readInt32BE()) {
        const end = sizeBytes + bytes.readInt32BE()
        yield bytes.subarray(0, end)
        bytes = bytes.subarray(end)
      }
    }
  } catch {
    // the client is gone
  }
}
