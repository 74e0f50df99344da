/** Requests that the client repeats in turn; they differ only in their paths and bodies. */
export interface Load {
  readonly method: 'GET' | 'POST'
  readonly paths: readonly string[]
  /** In addition to those of every request. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** One body per path; `body` is then absent. A path with an empty one is asked for by GET. */
  readonly bodies?: readonly string[]
}

export interface Round {
  readonly requestsPerSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}

export interface RoundOptions {
  readonly url: string
  /** Servers that share the connections, one for each thread of the client, of which there is one by default. */
  readonly urls?: readonly string[]
  readonly load: Load
  readonly connections: number
  readonly seconds: number
}

export interface LoadClient {
  readonly name: string
  /** One round. Throws if any answer is missing or not 2xx. */
  run(options: RoundOptions): Promise<Round>
}

/** The only API key, the same for every measured system. */
export const apiKey = 'key-of-the-benchmark'

/** Sent with every request. */
export const requestHeaders = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' } as const

export function headersOf({ headers }: Load): Readonly<Record<string, string>> {
  return { ...requestHeaders, ...headers }
}

/** Throws if anything failed in a round: `errors` counts failures by kind. */
export function refuseErrors(url: string, { method, paths }: Load, errors: Readonly<Record<string, number>>): void {
  const seen = Object.entries(errors).filter(([, times]) => times > 0)
  if (seen.length === 0) return
  const what = seen.map(([kind, times]) => `${times} ${kind}`).join(', ')
  throw new Error(`${method} ${url}${paths[0]} had failures: ${what}`)
}
