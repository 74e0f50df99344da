import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

const usualAnswers: Readonly<Record<string, string>> = {
  hello: '-ERR unknown command HELLO\r\n', // the client then speaks the older protocol
  cluster: '-ERR This instance has cluster support disabled\r\n',
  info: '$29\r\nmaxmemory_policy:noeviction\r\n\r\n',
}

export type Purpose = 'commands' | 'announcements'

/** A server that stores nothing: it says enough for clients to connect and to subscribe, and can close connections. */
export class ScriptedRedis {
  /** The answer to each command, by its name. May be changed. */
  readonly answers: Record<string, string> = { ...usualAnswers }
  /** How often each command was sent. */
  readonly sent = new Map<string, number>()
  readonly #server = createServer((socket) => this.#serve(socket))
  readonly #connections = new Map<Socket, Purpose>()

  static async start(): Promise<ScriptedRedis> {
    const redis = new ScriptedRedis()
    await once(redis.#server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => {
      redis.#server.close()
      for (const purpose of ['commands', 'announcements'] as const) redis.close(purpose)
    })
    return redis
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Closes the connections for this purpose. */
  close(purpose: Purpose): void {
    for (const [socket, each] of this.#connections) if (each === purpose) socket.destroy()
  }

  #serve(socket: Socket): void {
    this.#connections.set(socket, 'commands')
    socket.once('close', () => this.#connections.delete(socket))
    socket.on('error', () => {}) // `close` follows
    socket.on('data', (data) => {
      for (const [command = '', channel = ''] of commandsIn(String(data))) {
        const name = command.toLowerCase()
        this.sent.set(name, (this.sent.get(name) ?? 0) + 1)
        if (name === 'subscribe') {
          this.#connections.set(socket, 'announcements')
          socket.write(`*3\r\n$9\r\nsubscribe\r\n$${channel.length}\r\n${channel}\r\n:1\r\n`)
        } else socket.write(this.answers[name] ?? '+OK\r\n')
      }
    })
  }
}

/** Name and first argument of each: short commands come whole. */
function commandsIn(sent: string): string[][] {
  return sent
    .split(/^\*\d+\r\n/m)
    .slice(1)
    .map((command) => [...command.matchAll(/\$\d+\r\n(.*)\r\n/g)].slice(0, 2).map(([, word = '']) => word))
}
