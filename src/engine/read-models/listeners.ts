import type { Progress, ProgressListener } from './ports/generations.ts'

type Subscription = { readonly listener: ProgressListener }

/**
 * The listeners of one store. Each is called in a microtask of its own, so that none runs within the store's work or
 * prevents others from being called. None is called after it unsubscribed.
 */
export class Listeners {
  /** A listener that is added twice counts as two. */
  readonly #subscriptions = new Set<Subscription>()
  #connected: boolean

  constructor({ connected }: { connected: boolean }) {
    this.#connected = connected
  }

  add(listener: ProgressListener): () => void {
    const subscription = { listener }
    this.#subscriptions.add(subscription)
    if (this.#connected) this.#tell([subscription], () => listener.connected())
    return () => void this.#subscriptions.delete(subscription)
  }

  progress(generation: string, progress?: Progress): void {
    this.#tell(this.#subscriptions, (listener) => listener.progress(generation, progress))
  }

  connected(): void {
    this.#connected = true
    this.#tell(this.#subscriptions, (listener) => listener.connected())
  }

  /** Acts once, however often it is called. */
  disconnected(): void {
    if (!this.#connected) return
    this.#connected = false
    this.#tell(this.#subscriptions, (listener) => listener.disconnected())
  }

  #tell(subscriptions: Iterable<Subscription>, call: (listener: ProgressListener) => void): void {
    for (const subscription of subscriptions) {
      queueMicrotask(() => {
        if (this.#subscriptions.has(subscription)) call(subscription.listener)
      })
    }
  }
}
