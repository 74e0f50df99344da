import type { Progress, ProgressListener } from './generations.ts'

/**
 * The listeners of one store. Each is called in a microtask of its own, so that none runs inside the store's work or
 * can keep another from hearing, and none is called after it unsubscribed.
 */
export class Listeners {
  readonly #listeners = new Set<ProgressListener>()
  #connected: boolean

  constructor({ connected }: { connected: boolean }) {
    this.#connected = connected
  }

  add(listener: ProgressListener): () => void {
    const own = { ...bound(listener) } // one that is added twice is two
    this.#listeners.add(own)
    if (this.#connected) this.#call(own, () => own.connected())
    return () => {
      this.#listeners.delete(own)
    }
  }

  progress(generation: string, progress?: Progress): void {
    this.#callAll((listener) => listener.progress(generation, progress))
  }

  connected(): void {
    this.#connected = true
    this.#callAll((listener) => listener.connected())
  }

  /** Says so once, however often it is called. */
  disconnected(): void {
    if (!this.#connected) return
    this.#connected = false
    this.#callAll((listener) => listener.disconnected())
  }

  #callAll(call: (listener: ProgressListener) => void): void {
    for (const listener of this.#listeners) this.#call(listener, () => call(listener))
  }

  #call(listener: ProgressListener, call: () => void): void {
    queueMicrotask(() => {
      if (this.#listeners.has(listener)) call()
    })
  }
}

function bound(listener: ProgressListener): ProgressListener {
  return {
    progress: (generation, progress) => listener.progress(generation, progress),
    connected: () => listener.connected(),
    disconnected: () => listener.disconnected(),
  }
}
