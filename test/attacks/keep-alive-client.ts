import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
  request,
} from 'node:http'
import { text } from 'node:stream/consumers'

export interface Answer {
  readonly status: number
  readonly type: string
  /** Empty of an answer without an end. */
  readonly text: string
  readonly retryAfterSeconds: number | undefined
}

export interface Sent {
  readonly path: string
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | undefined
}

/** The type of an answer that nobody waits for the end of. */
export const endless = 'text/event-stream'

/** Nobody waits longer for an answer. */
const patienceMs = 20_000

/**
 * A client with one connection, or as many as it is told, which it keeps: as long as its requests come one after the other it
 * is never held up by itself.
 */
export class KeepAliveClient {
  readonly #url: string
  readonly #key: string
  readonly #agent: Agent

  constructor(url: string, key: string, connections = 1) {
    this.#url = url
    this.#key = key
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
  }

  /** Rejects where there is no answer. */
  async get(path: string): Promise<Answer> {
    const open = () => this.#open({ path }, { signal: AbortSignal.timeout(patienceMs) })
    const sent = open()
    try {
      return await answerTo(sent)
    } catch (error) {
      // It may be closed while it is idle, as any connection may: such a request was never read.
      if (!sent.reusedSocket || (error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
      return await answerTo(open())
    }
  }

  /** Once, and for as long as it takes. */
  send(sent: Sent): Promise<Answer> {
    return answerTo(this.#open(sent))
  }

  close(): void {
    this.#agent.destroy()
  }

  #open({ path, method = 'GET', headers, body }: Sent, options: RequestOptions = {}): ClientRequest {
    const own = { authorization: `Bearer ${this.#key}`, ...headers }
    return request(this.#url + path, { ...options, agent: this.#agent, method, headers: own }).end(body)
  }
}

async function answerTo(sent: ClientRequest): Promise<Answer> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    sent.on('response', resolve).on('error', reject),
  )
  const { statusCode: status = 0, headers } = answer
  const { 'content-type': type = '', 'retry-after': seconds } = headers
  if (type === endless) answer.destroy()
  const retryAfterSeconds = seconds === undefined ? undefined : Number(seconds)
  return { status, type, retryAfterSeconds, text: type === endless ? '' : await text(answer) }
}
