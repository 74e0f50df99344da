import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { requestHeaders } from './load.ts'

export interface CountedRequest {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface CountedAnswer {
  readonly status: number
  readonly location: string | undefined
}

/** What ends the head of an answer. */
const headEnd = '\r\n\r\n'

/**
 * Sends an exact number of requests, one at a time on each connection. A client that does so little leaves the cores
 * to the server; it understands only answers with `Content-Length`.
 */
export class CountedClient {
  readonly #sockets: readonly Socket[]

  private constructor(sockets: readonly Socket[]) {
    this.#sockets = sockets
  }

  /** Its connections end with `stack`. */
  static async open(stack: AsyncDisposableStack, url: string, connections: number): Promise<CountedClient> {
    const { hostname: host, port } = new URL(url)
    const sockets = Array.from({ length: connections }, () =>
      createConnection({ host, port: Number(port), noDelay: true }).setEncoding('latin1'),
    )
    for (const socket of sockets) {
      socket.on('error', () => {}) // 'close' follows
      stack.defer(() => void socket.destroy())
    }
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    return new CountedClient(sockets)
  }

  /** Resolves to the answers in the order of the requests. */
  async send(requests: readonly CountedRequest[]): Promise<readonly CountedAnswer[]> {
    const texts = requests.map(textOf)
    const answers: CountedAnswer[] = []
    let next = 0
    const take = () => (next < texts.length ? next++ : undefined)
    await Promise.all(
      this.#sockets.map(async (socket) => {
        for (let at = take(); at !== undefined; at = take()) answers[at] = await exchange(socket, texts[at] ?? '')
      }),
    )
    return answers
  }
}

function textOf({ method, path, headers, body }: CountedRequest): string {
  const length = body === undefined ? undefined : { 'content-length': String(Buffer.byteLength(body)) }
  const fields = Object.entries({ host: 'localhost', ...requestHeaders, ...headers, ...length })
  return `${method} ${path} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body ?? ''}`
}

function exchange(socket: Socket, request: string): Promise<CountedAnswer> {
  return new Promise((resolve, reject) => {
    let text = ''
    const failed = () => reject(new Error(`the server closed a connection instead of answering ${request}`))
    const received = (chunk: string) => {
      text += chunk
      const end = text.indexOf(headEnd)
      if (end < 0) return
      const head = text.slice(0, end)
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (text.length < end + headEnd.length + length) return
      socket.off('data', received).off('close', failed)
      resolve({ status: Number(head.slice(9, 12)), location: /\r\nlocation: (\S+)/i.exec(head)?.[1] })
    }
    socket.on('data', received).once('close', failed).write(request)
  })
}
