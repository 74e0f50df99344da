import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { KeyHolder } from '../../api-keys/key-ring.ts'

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
  /** What counts as its address; undefined for a trusted proxy, which carries many clients. */
  readonly network: string | undefined
  /** Whose valid API key came on it last. */
  holder: KeyHolder | undefined
  /** Whether nothing of it has been read yet: its client may have sent something. */
  isUnread = true
  /** When the request that has its turn had arrived, by the clock of `performance`. */
  arrivedAtMs = 0
  /** About how much memory the waiting requests take. */
  waitingBytes = 0
  readonly #changesHands: (connection: Connection) => void
  /** The response to the last request that had its turn. */
  #current: ServerResponse | undefined
  readonly #waiting: ServerResponse[] = []
  #isNextDue = false
  #isEnding = false
  #taken = 0
  #takenAtMs = 0

  constructor(socket: Socket, network: string | undefined, changesHands: (connection: Connection) => void) {
    this.socket = socket
    this.network = network
    this.#changesHands = changesHands
    connections.set(socket, this)
  }

  /** Who takes turns with others: the owner of the last valid key, else the address. */
  get whose(): string {
    return this.holder?.owner ?? this.network ?? ''
  }

  /** A valid API key came on it. */
  letIn(holder: KeyHolder): void {
    const isKnown = this.holder?.keyId === holder.keyId
    this.holder = holder
    if (!isKnown) this.#changesHands(this)
  }

  /** How many requests wait for their turn. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Calls `due` once the requests before that of `response` are answered. */
  wait(response: ServerResponse, due: () => void): void {
    this.#waiting.push(response)
    // Node assigns the socket to a response once the previous response has been written.
    response.once('socket', () => {
      this.#isNextDue = true
      due()
    })
  }

  /** It is the turn of the request that has waited longest. Returns whether it can be handled: all of it must have come. */
  takeNext(): boolean {
    const response = this.#waiting.shift()
    this.#isNextDue = false
    return response !== undefined && !this.socket.destroyed && (!this.#isEnding || response.req.complete)
  }

  begin(response: ServerResponse, arrivedAtMs: number): void {
    this.#current = response
    this.arrivedAtMs = arrivedAtMs
  }

  /** Lets go of the last request if it is answered: it may be large, and its connection may be idle for long. */
  forgetAnswered(): void {
    if (this.#current?.writableFinished || this.#current?.destroyed) this.#current = undefined
  }

  /** Whether only the client can go on: by a request, or by taking its answer. */
  get isIdle(): boolean {
    if (this.isUnread || this.#isNextDue) return false
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
