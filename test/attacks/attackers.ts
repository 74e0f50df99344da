import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { isMainThread, Worker, workerData } from 'node:worker_threads'

export interface Attack {
  readonly connections: number
  /** What each connection sends when it is opened. */
  readonly first: string
  /** What it sends again and again, as fast as it is taken. */
  readonly again?: string
  /** Or once in as many milliseconds. */
  readonly everyMs?: number
  readonly reads?: boolean
  /** Whether it resets the connection behind what it sent first. */
  readonly resets?: boolean
  /** The addresses of this machine that it comes from, in turn. */
  readonly from?: readonly string[]
}

/** What the thread is given. All connections share what they send: of a text each would keep a copy until it is taken. */
interface Orders {
  readonly port: number
  readonly attack: Attack
  readonly first: Uint8Array
  readonly again: Uint8Array | undefined
  readonly closed: Int32Array
}

/** Keeps connections to a port from an address of its own, in a thread of its own. Those that are closed are opened anew. */
export class Attackers {
  readonly #worker: Worker
  readonly #closed = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

  constructor(port: number, attack: Attack) {
    const again = attack.again === undefined ? undefined : Buffer.from(attack.again)
    const orders: Orders = { port, attack, first: Buffer.from(attack.first), again, closed: this.#closed }
    this.#worker = new Worker(fileURLToPath(import.meta.url), { workerData: { orders } })
  }

  /** How many of its connections have been closed so far. */
  get closed(): number {
    return Atomics.load(this.#closed, 0)
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }
}

const otherAddresses = ['127.0.0.2']
const comesBackMs = 20

function open(orders: Orders, index: number): void {
  const { port, first, again, closed } = orders
  const { everyMs, reads, resets, from = otherAddresses } = orders.attack
  const socket = connect({ port, host: '127.0.0.1', localAddress: from[index % from.length] })
  socket.on('error', () => {})
  if (reads === true) socket.resume()
  socket.write(first, () => resets && socket.resetAndDestroy())
  const timer = everyMs === undefined ? undefined : setInterval(() => socket.write(again ?? ''), everyMs)
  if (timer === undefined && again !== undefined) {
    const send = () => {
      // In turns: the other connections go on as well.
      if (!socket.destroyed && socket.write(again)) setImmediate(send)
    }
    socket.on('drain', send)
    socket.once('connect', send)
  }
  socket.on('close', () => {
    Atomics.add(closed, 0, 1)
    clearInterval(timer)
    setTimeout(() => open(orders, index), comesBackMs)
  })
}

if (!isMainThread && workerData?.orders !== undefined) {
  const orders = workerData.orders as Orders
  for (let index = 0; index < orders.attack.connections; index++) open(orders, index)
}
