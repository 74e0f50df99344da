import { apiKey } from '../e2e/client.ts'
import { whenDone } from '../lib/when-done.ts'

/** Clients that open a connection for each request, to wherever nodes send new ones. */
export class Visitors {
  readonly failures: string[] = []
  answered = 0
  readonly #done: Promise<unknown>
  #isStopped = false

  constructor(count: number, endpoint: () => { readonly url: string }) {
    this.#done = Promise.all(Array.from({ length: count }, () => this.#visit(endpoint)))
    whenDone(() => this.stop())
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#done
  }

  async #visit(endpoint: () => { readonly url: string }): Promise<void> {
    const headers = { authorization: `Bearer ${apiKey}`, connection: 'close' }
    while (!this.#isStopped) {
      try {
        const response = await fetch(`${endpoint().url}/v1/pets?limit=1`, { headers })
        const text = await response.text()
        if (response.status === 200) this.answered++
        else this.failures.push(`${response.status} ${text}`)
      } catch (error) {
        this.failures.push(`${(error as { cause?: Error }).cause ?? error}`)
      }
    }
  }
}
