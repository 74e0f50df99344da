import type { EventLog, Offset } from '../event-log/event-log.ts'
import type { Checkpoints } from './generations.ts'

/** What proving takes of a log. */
export type ProvingLog = Pick<EventLog, 'logId' | 'endOffsets'>

/** Positions by partition; undefined where nothing was seen. */
export type Seen = readonly (Offset | undefined)[]

/**
 * A generation as this process knows it. It is proved once it has reached what the log held when it came in doubt: when
 * this process met it or lost touch with it.
 */
export class KnownGeneration {
  readonly name: string
  /**
   * The furthest position this process has seen, by partition. An answer must have reached what was seen when it was asked
   * for: later news may overtake it. Replaced, never changed, so that a read can hold on to what it began with.
   */
  seen: Seen = []
  isProved = false
  /** Whether every set of the last answer held as much as is recorded for it. */
  isComplete = true
  /** Pending while the log is asked, once for each doubt. */
  asking: Promise<void> | undefined
  readonly #log: ProvingLog
  /** What it takes to be proved; undefined until the log has said so. */
  #required: readonly Offset[] | undefined
  /** At the last look; undefined in doubt, until there is another one. */
  #stored: Checkpoints | undefined
  /** Answers read while nothing is written share the object. */
  #lastSeen: Checkpoints | undefined
  #wasProved = false

  constructor(name: string, log: ProvingLog) {
    this.name = name
    this.#log = log
  }

  /** One that was nowhere behind this one when it took over: what is proved of this one holds of it too. */
  followedBy(name: string): KnownGeneration {
    const next = new KnownGeneration(name, this.#log)
    next.seen = this.seen
    next.#required = []
    return next
  }

  /** Whether a look would prove it. */
  get isDue(): boolean {
    return !this.isProved && (this.#required?.every((end, partition) => (this.seen[partition] ?? 0) >= end) ?? false)
  }

  doubt(): void {
    this.isProved = false
    this.#stored = undefined
    this.#required = undefined
    this.asking = undefined
  }

  /** `before`: what was seen when the look began. */
  looked(checkpoints: Checkpoints | undefined, before: Seen): void {
    if (checkpoints === undefined || !reach(checkpoints, before)) this.doubt()
    else {
      this.see(checkpoints)
      this.#stored = checkpoints
      this.#prove()
    }
    if (this.#required === undefined) this.asking ??= this.#askLog()
  }

  see(checkpoints: Checkpoints): void {
    if (this.#lastSeen === checkpoints) return
    for (const [partition, { next }] of checkpoints) this.seeOne(partition, next)
    this.#lastSeen = checkpoints
  }

  seeOne(partition: number, next: Offset): void {
    if (next <= (this.seen[partition] ?? 0)) return
    const seen = [...this.seen]
    seen[partition] = next
    this.seen = seen
  }

  #askLog(): Promise<void> {
    const settle = (required: readonly Offset[] | undefined) => {
      if (this.asking !== asking) return // in doubt again meanwhile
      this.#required = required
      this.asking = undefined
      this.#prove()
    }
    // Once proved, it is held to what this process saw of it, even when the log cannot say what more there is. One that
    // never was waits: the next look asks again.
    const asking = this.#log.endOffsets().then(settle, () => settle(this.#wasProved ? [] : undefined))
    return asking
  }

  #prove(): void {
    if (this.isProved || this.#stored === undefined || this.#required === undefined) return
    this.isProved = reach(this.#stored, this.#required)
    this.#wasProved ||= this.isProved
  }
}

export function reach(checkpoints: Checkpoints, offsets: Seen): boolean {
  return offsets.every((offset, partition) => (checkpoints.get(partition)?.next ?? 0) >= (offset ?? 0))
}
