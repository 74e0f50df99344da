import type { EventLog, Offset } from '../log/event-log.ts'
import type { Checkpoints } from './store.ts'

/** What a proof uses of a log. */
export type ProvingLog = Pick<EventLog, 'logId' | 'endOffsets'>

/** Positions by partition; undefined if none was seen. */
export type Seen = readonly (Offset | undefined)[]

/**
 * A generation as this process knows it. It is proved once it has reached what the log held when it came into doubt,
 * that is, when this process first saw it or lost contact with the store.
 */
export class KnownGeneration {
  readonly name: string
  /**
   * The furthest position that this process has seen, by partition. An answer must have reached what was seen when it
   * was requested, since later news may overtake it. The map is replaced, never changed, so that a read can keep the
   * one that it began with.
   */
  seen: Seen = []
  isProved = false
  /** Pending while the log is asked, once per doubt. */
  asking: Promise<void> | undefined
  readonly #log: ProvingLog
  /** The positions that prove it; undefined until the log has answered. */
  #required: readonly Offset[] | undefined
  /** The checkpoints of the last look; undefined while in doubt, until the next look. */
  #stored: Checkpoints | undefined
  /** Answers read while nothing is written share this object. */
  #lastSeen: Checkpoints | undefined
  #wasProved = false

  constructor(name: string, log: ProvingLog) {
    this.name = name
    this.#log = log
  }

  /**
   * The new generation was not behind this one anywhere when it became active: what is proved of this one also holds
   * for it.
   */
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

  /** `before`: the positions seen when the look began. */
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
      if (this.asking !== asking) return // it came into doubt again meanwhile
      this.#required = required
      this.asking = undefined
      this.#prove()
    }
    // Once proved, it must keep what this process saw of it, even if the log cannot say what else there is. If it was
    // never proved, the next look asks the log again.
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
