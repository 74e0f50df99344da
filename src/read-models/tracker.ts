import { ServiceError } from '../lib/errors.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import type { ActiveGeneration, Checkpoints, Generations, ProgressListener } from './generations.ts'

/** Which generation is active and how far it is. */
export interface Look {
  readonly active: ActiveGeneration | undefined
  /** Undefined when there is no active generation, or it is gone again. */
  readonly checkpoints: Checkpoints | undefined
}

/** Called at once, the tracker itself being up to date; also with all that the store announces. Must not throw. */
export interface TrackerObserver extends Partial<ProgressListener> {
  /** A look begins. */
  looking?(): void
  looked?(look: Look): void
  failed?(error: unknown): void
}

export interface TrackerOptions {
  /** The generation to follow, in place of the active one. */
  readonly follow?: () => Promise<ActiveGeneration | undefined>
  /** How often the store is looked at although nothing says that it changed. */
  readonly lookMs?: number
}

/**
 * Follows one store for everybody in the process: which generation is active, and how far it is. What the store announces
 * only wakes; once a second, on every connection and when another generation is heard of, the tracker looks at what is
 * stored.
 */
export class Tracker {
  readonly #generations: Pick<Generations, 'active' | 'checkpoints' | 'listen'>
  readonly #follow: TrackerOptions['follow']
  readonly #observers = new Set<TrackerObserver>()
  readonly #looking = new SingleFlight(() => this.#look())
  readonly #endListening: () => void
  readonly #timer: NodeJS.Timeout
  #generation: string | undefined
  #isConnected = false
  #isClosed = false
  /** Changes with whatever makes a look on its way worthless. */
  #turn = 0
  #lastLook: (() => Look) | undefined

  constructor(generations: Pick<Generations, 'active' | 'checkpoints' | 'listen'>, options: TrackerOptions = {}) {
    this.#generations = generations
    this.#follow = options.follow
    this.#endListening = generations.listen({
      progress: (generation, progress) => {
        // Beside a generation that is being built, the active one is heard all the time.
        const isOther = generation !== this.#generation && this.#follow === undefined
        if (progress === undefined || isOther) {
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

  /** Whether progress is heard. */
  get isConnected(): boolean {
    return this.#isConnected
  }

  /** A look that began after the call; throws what the store throws. */
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

  /** Returns what ends it. */
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
      const active = await (this.#follow?.() ?? this.#generations.active())
      const checkpoints = active && (await this.#generations.checkpoints(active.name))
      // A connection lost or another generation meanwhile: what was read may be of the time before.
      if (turn === this.#turn || this.#isClosed) return { active, checkpoints }
    }
  }
}
