/** The way between a process and what it uses: each request and each reply takes a while on it. */
export class Wire {
  readonly #latencyMs: () => number
  readonly #end = Promise.withResolvers<void>()
  #isCut = false
  #requestsArrive = true

  constructor(latencyMs: () => number) {
    this.#latencyMs = latencyMs
  }

  /** Resolves once the wire is cut. */
  get end(): Promise<void> {
    return this.#end.promise
  }

  /** The process is no more: no reply reaches it. Its requests that are under way arrive, or they do not. */
  cut({ requestsArrive }: { readonly requestsArrive: boolean }): void {
    this.#isCut = true
    this.#requestsArrive = requestsArrive
    this.#end.resolve()
  }

  async carry<T>(request: () => Promise<T>): Promise<T> {
    if (this.#isCut) return never()
    await this.#way()
    if (!this.#requestsArrive) return never()
    const reply = request()
    await reply.catch(() => {}) // a refusal takes the same way back
    await this.#way()
    return this.#isCut ? never() : reply
  }

  #way(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.#latencyMs()))
  }
}

function never<T>(): Promise<T> {
  return new Promise(() => {})
}
