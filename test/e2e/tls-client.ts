import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { createGunzip, gunzipSync } from 'node:zlib'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
}

interface Sent {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
}

/** Sends a request to a server whose certificate an authority of the tests gave. */
export async function send(url: URL, ca: string, { body, ...options }: Sent = {}): Promise<Answer> {
  const response = await open(url, { ...options, ca: readFileSync(ca) }, body)
  const bytes = await buffer(response)
  const isCompressed = response.headers['content-encoding'] === 'gzip' && bytes.length > 0
  const text = String(isCompressed ? gunzipSync(bytes) : bytes)
  return { status: response.statusCode ?? 0, headers: response.headers as Answer['headers'], text }
}

/** What has come so far of an answer without an end. */
export function firstBytes(url: URL, ca: string, headers: OutgoingHttpHeaders) {
  let text = ''
  const opened = open(url, { headers, ca: readFileSync(ca) })
  const answered = opened.then((response) => {
    const isCompressed = response.headers['content-encoding'] === 'gzip'
    const plain = isCompressed ? response.pipe(createGunzip()) : response
    plain.on('data', (bytes) => {
      text += bytes
    })
    response.on('error', () => {}) // it ends with the connection
  })
  return { answered, text: () => text, end: async () => (await opened).destroy() }
}

async function open(url: URL, options: RequestOptions, body?: string): Promise<IncomingMessage> {
  const sent = request(url, { ...options, agent: false })
  sent.end(body)
  const [response] = await once(sent, 'response')
  sent.on('error', () => {}) // the response tells it as well
  return response
}
