import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'

export interface Answer {
  readonly status: number
  readonly text: string
  readonly retryAfterSeconds: number | undefined
}

/** Nobody waits longer for an answer. */
const patienceMs = 20_000

/** A client with one connection, which it keeps: as long as its requests come one after the other it is never held up by itself. */
export class KeepAliveClient {
  readonly #url: string
  readonly #key: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  constructor(url: string, key: string) {
    this.#url = url
    this.#key = key
  }

  /** Rejects where there is no answer. */
  async get(path: string): Promise<Answer> {
    const sent = this.#send(path)
    try {
      return await answerTo(sent)
    } catch (error) {
      // It may be closed while it is idle, as any connection may: such a request was never read.
      if (!sent.reusedSocket || (error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
      return await answerTo(this.#send(path))
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #send(path: string): ClientRequest {
    const headers = { authorization: `Bearer ${this.#key}` }
    const signal = AbortSignal.timeout(patienceMs)
    return request(new URL(path, this.#url), { agent: this.#agent, headers, signal }).end()
  }
}

async function answerTo(sent: ClientRequest): Promise<Answer> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    sent.on('response', resolve).on('error', reject),
  )
  const { statusCode: status = 0, headers } = answer
  const retryAfterSeconds = headers['retry-after'] === undefined ? undefined : Number(headers['retry-after'])
  return { status, retryAfterSeconds, text: await text(answer) }
}
