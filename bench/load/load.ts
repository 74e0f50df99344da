/** Requests that the client sends again and again, in turn: all alike but for their paths. */
export interface Load {
  readonly method: 'GET' | 'POST'
  readonly paths: readonly string[]
  /** Beside those of every request. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** One body for each path; `body` is left out then. */
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
  readonly load: Load
  readonly connections: number
  readonly seconds: number
}

export interface LoadClient {
  readonly name: string
  /** One round. Throws when any answer is not 2xx, or does not come. */
  run(options: RoundOptions): Promise<Round>
}

/** The one key of every system measured. */
export const apiKey = 'key-of-the-benchmark'

/** Sent with every request. */
export const requestHeaders = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' } as const

export function headersOf({ headers }: Load): Readonly<Record<string, string>> {
  return { ...requestHeaders, ...headers }
}

/** Throws where anything went wrong in a round: `errors` counts it by kind. */
export function refuseErrors(url: string, { method, paths }: Load, errors: Readonly<Record<string, number>>): void {
  const seen = Object.entries(errors).filter(([, times]) => times > 0)
  if (seen.length === 0) return
  const what = seen.map(([kind, times]) => `${times} ${kind}`).join(', ')
  throw new Error(`${method} ${url}${paths[0]} was not always answered with 2xx: ${what}`)
}
