import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** What can be wrong between two parts of the system. The side that connects is the client. */
export type Disturbance =
  /** Connections are closed, new ones too. */
  | { readonly kind: 'cut' }
  /** Bytes are held back until it is healed; connections stay open. */
  | { readonly kind: 'silence'; readonly there: boolean; readonly back: boolean }
  /** Milliseconds that each piece of data takes. */
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'slow bytes'; readonly bytesPerSecond: number }

/** What becomes of what is sent on one connection, and of what is answered there. */
export interface Passage {
  there?(sent: AsyncIterable<Buffer>): AsyncIterable<Buffer>
  back?(answered: AsyncIterable<Buffer>): AsyncIterable<Buffer>
}

const unchanged = (sent: AsyncIterable<Buffer>) => sent

/** The network between a client and a server: a TCP proxy that can be disturbed. */
export class Link {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #newPassage: () => Passage
  #target: number
  #disturbance: Disturbance | undefined
  #changed = Promise.withResolvers<void>()

  private constructor(target: number, newPassage: () => Passage) {
    this.#target = target
    this.#newPassage = newPassage
    this.#server = createServer((client) => this.#connected(client))
  }

  /** A link to a port of this machine. */
  static async to(target: number, newPassage: () => Passage = () => ({})): Promise<Link> {
    const link = new Link(target, newPassage)
    await once(link.#server.listen(0, '127.0.0.1'), 'listening')
    return link
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** From now on it leads to another port. */
  turnTo(target: number): void {
    this.#target = target
    this.#cut()
  }

  /** Until `heal`. */
  disturb(disturbance: Disturbance): void {
    this.#change(disturbance)
    if (disturbance.kind === 'cut') this.#cut()
  }

  heal(): void {
    this.#change(undefined)
  }

  async close(): Promise<void> {
    this.#server.close()
    this.heal()
    this.#cut()
    await once(this.#server, 'close')
  }

  #change(disturbance: Disturbance | undefined): void {
    this.#disturbance = disturbance
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #connected(client: Socket): void {
    if (this.#disturbance?.kind === 'cut') {
      client.on('error', () => {})
      client.destroy()
      return
    }
    const server = connect(this.#target, '127.0.0.1')
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {}) // `close` follows
      socket.once('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
    }
    const { there = unchanged, back = unchanged } = this.#newPassage()
    void this.#carry(there(client), server, 'there')
    void this.#carry(back(server), client, 'back')
  }

  async #carry(from: AsyncIterable<Buffer>, to: Socket, direction: 'there' | 'back'): Promise<void> {
    try {
      for await (const data of from) {
        await this.#passage(data.length, direction)
        if (!to.write(data)) await once(to, 'drain')
      }
    } catch {
      // one side is gone, and the other goes with it
    }
  }

  async #passage(bytes: number, direction: 'there' | 'back'): Promise<void> {
    while (this.#disturbance?.kind === 'silence' && this.#disturbance[direction]) await this.#changed.promise
    const disturbance = this.#disturbance
    if (disturbance?.kind === 'delay') await this.#atMost(disturbance.ms)
    if (disturbance?.kind === 'slow bytes') await this.#atMost((bytes / disturbance.bytesPerSecond) * 1000)
  }

  /** Ends early when the link is healed. */
  async #atMost(ms: number): Promise<void> {
    await Promise.race([delay(ms), this.#changed.promise])
  }
}
