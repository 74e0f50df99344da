import { connect, type Socket } from 'node:net'

export interface Attack {
  readonly connections: number
  /** What each connection sends when it is opened. */
  readonly first: string
  /** What it sends again and again, as fast as it is taken. */
  readonly again?: string
  /** Or once in as many milliseconds. */
  readonly everyMs?: number
  readonly reads?: boolean
}

const otherAddress = '127.0.0.2'
const comesBackMs = 20

/** Keeps connections to a port from an address of its own. Those that are closed are opened anew. */
export class Attackers {
  opened = 0
  /** Bytes. */
  received = 0
  readonly #port: number
  readonly #attack: Attack
  readonly #sockets = new Set<Socket>()
  #stopped = false

  constructor(port: number, attack: Attack) {
    this.#port = port
    this.#attack = attack
    for (let index = 0; index < attack.connections; index++) this.#open()
  }

  stop(): void {
    this.#stopped = true
    for (const socket of this.#sockets) socket.destroy()
  }

  #open(): void {
    if (this.#stopped) return
    const { first, again, everyMs, reads } = this.#attack
    const socket = connect({ port: this.#port, host: '127.0.0.1', localAddress: otherAddress })
    this.#sockets.add(socket)
    this.opened++
    socket.on('error', () => {})
    if (reads === true) socket.on('data', ({ length }) => (this.received += length))
    socket.write(first)
    const timer = everyMs === undefined ? undefined : setInterval(() => socket.write(again ?? ''), everyMs)
    if (timer === undefined && again !== undefined) {
      const send = () => {
        // In turns: all else of this process goes on as well.
        if (!socket.destroyed && socket.write(again)) setImmediate(send)
      }
      socket.on('drain', send)
      socket.once('connect', send)
    }
    socket.on('close', () => {
      clearInterval(timer)
      this.#sockets.delete(socket)
      setTimeout(() => this.#open(), comesBackMs)
    })
  }
}
