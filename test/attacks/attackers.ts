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

/** Keeps connections to a port from an address of its own, in a thread of its own. Those that are closed are opened anew. */
export class Attackers {
  readonly #worker: Worker

  constructor(port: number, attack: Attack) {
    this.#worker = new Worker(fileURLToPath(import.meta.url), { workerData: { port, attack } })
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }
}

const otherAddresses = ['127.0.0.2']
const comesBackMs = 20

function open(port: number, attack: Attack, index: number): void {
  const { first, again, everyMs, reads, resets, from = otherAddresses } = attack
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
    clearInterval(timer)
    setTimeout(() => open(port, attack, index), comesBackMs)
  })
}

if (!isMainThread && workerData?.attack !== undefined) {
  const { port, attack } = workerData as { readonly port: number; readonly attack: Attack }
  for (let index = 0; index < attack.connections; index++) open(port, attack, index)
}
