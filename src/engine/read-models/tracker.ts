import { ServiceError } from '../lib/errors.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import type { ActiveGeneration, Checkpoints, Generations, ProgressListener } from './generations.ts'

/** Which generation is active and how far it is. */
export interface Look {
  readonly active: ActiveGeneration | undefined
  /** Undefined if there is no active generation, or it has been removed meanwhile. */
  readonly checkpoints: Checkpoints | undefined
}

/**
 * Called synchronously, after the tracker's own update; also receives all announcements of the store. Must not throw.
 */
export interface TrackerObserver extends Partial<ProgressListener> {
  /** A look begins. */
  looking?(): void
  looked?(look: Look): void
  failed?(error: unknown): void
}

export interface TrackerOptions {
  /** How often to look at the store even without an announcement. */
  readonly lookMs?: number
}

/**
 * Follows one store for the whole process: which generation is active, and how far it is. Announcements only wake; the
 * tracker looks at what is stored once a second, on every connection, and when another generation is announced.
 */
export class Tracker {
  readonly #generations: Pick<Generations, 'active' | 'checkpoints' | 'listen'>
  readonly #observers = new Set<TrackerObserver>()
  readonly #looking = new SingleFlight(() => this.#look())
  readonly #endListening: () => void
  readonly #timer: NodeJS.Timeout
  #generation: string | undefined
  #isConnected = false
  #isClosed = false
  /** Changes whenever a look in progress becomes worthless. */
  #turn = 0
  #lastLook: (() => Look) | undefined

  constructor(generations: Pick<Generations, 'active' | 'checkpoints' | 'listen'>, options: TrackerOptions = {}) {
    this.#generations = generations
    this.#endListening = generations.listen({
      progress: (generation, progress) => {
        if (progress === undefined || generation !== this.#generation) {
          this.#turn++
          this.#generation = generation
          this.lookSoon()
        }
        for (const observer of this.#observers) observer.progress?.(generation, progress)
      },
      connected: () => {
        this.#isConnected = true
        for (const observer of this.#observers) observer.connected?.()
        this.lookSoon()
      },
      disconnected: () => this.#disconnected(),
    })
    this.#timer = setInterval(() => this.lookSoon(), options.lookMs ?? 1000).unref()
  }

  /** Whether progress is announced to this process. */
  get isConnected(): boolean {
    return this.#isConnected
  }

  /** Resolves to a look that began after the call; throws what the store throws. */
  async look(): Promise<Look> {
    await this.#looking.request()
    if (this.#isClosed || this.#lastLook === undefined) {
      throw new ServiceError('read_model_unavailable', 'The read models are not looked at any more.')
    }
    return this.#lastLook()
  }

  lookSoon(): void {
    void this.#looking.request()
  }

  /** Returns a function that ends the observation. */
  observe(observer: TrackerObserver): () => void {
    this.#observers.add(observer)
    return () => void this.#observers.delete(observer)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#endListening()
    clearInterval(this.#timer)
    this.#disconnected()
    await this.#looking.stop()
  }

  #disconnected(): void {
    this.#turn++
    this.#isConnected = false
    for (const observer of this.#observers) observer.disconnected?.()
  }

  async #look(): Promise<void> {
    for (const observer of this.#observers) observer.looking?.()
    try {
      const look = await this.#ask()
      this.#lastLook = () => look
      this.#generation = look.active?.name
      for (const observer of this.#observers) observer.looked?.(look)
    } catch (error) {
      this.#lastLook = () => {
        throw error
      }
      for (const observer of this.#observers) observer.failed?.(error)
    }
  }

  async #ask(): Promise<Look> {
    for (;;) {
      const turn = this.#turn
      const active = await this.#generations.active()
      const checkpoints = active && (await this.#generations.checkpoints(active.name))
      // The connection was lost, or another generation appeared: the result may be outdated.
      if (turn === this.#turn || this.#isClosed) return { active, checkpoints }
    }
  }
}
