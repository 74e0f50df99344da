// autocannon has no types: this declares the parts in use.
declare module 'autocannon' {
  interface Options {
    url: string
    connections: number
    duration: number
    requests: { method: string; path: string; headers: Readonly<Record<string, string>>; body?: string }[]
  }
  interface Result {
    readonly requests: { readonly total: number }
    /** Seconds. */
    readonly duration: number
    readonly errors: number
    readonly timeouts: number
    readonly non2xx: number
    /** Milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number }
  }
  export default function autocannon(options: Options): Promise<Result>
}
