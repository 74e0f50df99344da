import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What Node counts of a socket: the bytes that it was given, and those of them that the system has not taken yet. */
interface Handle {
  readonly bytesWritten: number
  readonly writeQueueSize: number
}
const closed: Handle = { bytesWritten: 0, writeQueueSize: 0 }

const connections = new WeakMap<object, Connection>()

/** Undefined for a socket that no server of ours has accepted, such as that of an injected request. */
export function connectionOf(socket: object): Connection | undefined {
  return connections.get(socket)
}

/** A connection that was accepted, and its requests, which take turns. */
export class Connection {
  readonly socket: Socket
  /** Whether a request with a valid API key has come on it. */
  hasKey = false
  /** The response to the last request that had its turn. */
  #current: ServerResponse | undefined
  readonly #waiting: ServerResponse[] = []
  #isEnding = false
  #taken = 0
  #takenAtMs = 0

  constructor(socket: Socket) {
    this.socket = socket
    connections.set(socket, this)
  }

  /** How many requests wait for their turn. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Calls `begin` once it is the turn of the request of `response`, unless the rest of it cannot come any more. */
  wait(response: ServerResponse, begin: () => void): void {
    this.#waiting.push(response)
    // Node assigns the socket to a response once the previous response has been written.
    response.once('socket', () => {
      this.#waiting.shift()
      if (!this.#isEnding || response.req.complete) begin()
    })
  }

  begin(response: ServerResponse): void {
    this.#current = response
  }

  /** Lets go of the last request if it is answered: it may be large, and its connection may be idle for long. */
  forgetAnswered(): void {
    if (this.#current?.writableFinished || this.#current?.destroyed) this.#current = undefined
  }

  /** Whether only the client can go on: by a request, or by taking its answer. */
  get isIdle(): boolean {
    return this.#current === undefined || this.#current.writableEnded || this.#current.destroyed
  }

  /**
   * Reads no more, and closes the connection once its complete requests are answered. If there are none, it sends `last`
   * before, and returns true: behind an answer that is still to come the client would take it for that answer. Only the
   * first call has an effect: each byte behind what is not HTTP is another error.
   */
  end(last: string): boolean {
    const { socket } = this
    socket.pause() // each time: whatever reads the body of a request resumes it
    if (this.#isEnding) return false
    this.#isEnding = true
    const answer = [this.#current, ...this.#waiting].findLast((each) => each !== undefined && isStillToCome(each))
    if (answer !== undefined) answer.once('finish', () => socket.destroySoon())
    else if (socket.writable) socket.end(last, () => socket.destroy())
    else socket.destroy()
    return answer === undefined && socket.writableEnded
  }

  /** For how long, in milliseconds, the client has taken nothing of what is ready for it: as of the calls so far. */
  stuckForMs(): number {
    const now = performance.now()
    const { bytesWritten, writeQueueSize } = (this.socket as { _handle?: Handle | null })._handle ?? closed
    const taken = bytesWritten - writeQueueSize
    if (writeQueueSize === 0 || taken !== this.#taken) [this.#taken, this.#takenAtMs] = [taken, now]
    return now - this.#takenAtMs
  }
}

/** A request that is cut off gets no answer, unless that has begun. */
function isStillToCome({ writableFinished, headersSent, req }: ServerResponse): boolean {
  return !writableFinished && (headersSent || req.complete)
}
