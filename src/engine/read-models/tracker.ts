import { ServiceError } from '../lib/errors/errors.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import type { Generations, Look, ProgressListener } from './ports/generations.ts'

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
  /** How long after the beginning of a look another one is due, even without an announcement. */
  readonly lookMs?: number
}

export type TrackedGenerations = Pick<Generations, 'look' | 'listen'>

/** Looks that messages ask for begin so far apart, since anybody can publish without end. */
const hintedLookMs = 20

/**
 * Follows one store for the whole process: whatever is asked of it again and again is asked here, in one look for
 * everybody. Announcements only wake (decision 0059); the tracker looks at what is stored a second after the last look
 * began, on every connection, and when another generation is announced.
 */
export class Tracker {
  readonly #generations: TrackedGenerations
  readonly #observers = new Set<TrackerObserver>()
  readonly #looking = new SingleFlight(() => this.#look())
  readonly #endListening: () => void
  readonly #lookMs: number
  #timer: NodeJS.Timeout | undefined
  #beganAtMs = Number.NEGATIVE_INFINITY
  /** The generation that the last look found active. */
  #generation: string | undefined
  #isConnected = false
  #isClosed = false
  #connectionsLost = 0
  #othersAnnounced = 0
  #lastLook: (() => Look) | undefined
  #failure: unknown

  constructor(generations: TrackedGenerations, options: TrackerOptions = {}) {
    this.#generations = generations
    this.#lookMs = options.lookMs ?? 1000
    this.#lookIn(this.#lookMs)
    this.#endListening = generations.listen({
      progress: (generation, progress) => {
        if (progress === undefined || generation !== this.#generation) {
          this.#othersAnnounced++
          this.lookAtHint()
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
  }

  /** Whether progress is announced to this process. */
  get isConnected(): boolean {
    return this.#isConnected
  }

  /** What the last look failed with; undefined if it succeeded, or none was made yet. */
  get failure(): unknown {
    return this.#failure
  }

  /** The last look; throws what the store threw then. */
  get lastLook(): Look {
    if (this.#isClosed || this.#lastLook === undefined) {
      throw new ServiceError('read_model_unavailable', 'The read models are not being looked at.')
    }
    return this.#lastLook()
  }

  /** Resolves to a look that began after the call; throws what the store throws. */
  async look(): Promise<Look> {
    await this.#looking.request()
    return this.lastLook
  }

  lookSoon(): void {
    void this.#looking.request()
  }

  /** As `lookSoon`, for what only a message says. */
  lookAtHint(): void {
    const leftMs = this.#beganAtMs + hintedLookMs - performance.now()
    if (leftMs <= 0) this.lookSoon()
    else this.#lookIn(Math.min(leftMs, this.#lookMs))
  }

  /** Returns a function that ends the observation. */
  observe(observer: TrackerObserver): () => void {
    this.#observers.add(observer)
    return () => void this.#observers.delete(observer)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#endListening()
    clearTimeout(this.#timer)
    this.#disconnected()
    await this.#looking.stop()
  }

  /** Not by `refresh`, after which the fake timers of tests fire in another order than they are due. */
  #lookIn(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.lookSoon(), ms).unref()
  }

  #disconnected(): void {
    this.#connectionsLost++
    this.#isConnected = false
    for (const observer of this.#observers) observer.disconnected?.()
  }

  async #look(): Promise<void> {
    this.#beganAtMs = performance.now()
    this.#lookIn(this.#lookMs)
    for (const observer of this.#observers) observer.looking?.()
    try {
      const look = await this.#ask()
      this.#lastLook = () => look
      this.#failure = undefined
      this.#generation = look.active?.name
      for (const observer of this.#observers) observer.looked?.(look)
    } catch (error) {
      this.#failure = error
      this.#lastLook = () => {
        throw error
      }
      for (const observer of this.#observers) observer.failed?.(error)
    }
  }

  /**
   * What is read while the connection is lost may be outdated, and so may be what is read while another generation is
   * announced. One announcement is heeded, since a stranger's have no end: the next look sees what came later.
   */
  async #ask(): Promise<Look> {
    for (let isRepeated = false; ; ) {
      const [lost, announced] = [this.#connectionsLost, this.#othersAnnounced]
      const look = await this.#generations.look()
      if (this.#isClosed) return look
      if (lost !== this.#connectionsLost) continue
      if (announced === this.#othersAnnounced || isRepeated) return look
      isRepeated = true
    }
  }
}
