import type { Offset } from '../log/event-log.ts'
import type { Checkpoints } from './ports/generations.ts'
import type { ToldEnds } from './told-ends.ts'

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
   * was requested, since later news may overtake it. The list is replaced, never changed, so that a read can keep the
   * one that it began with. In doubt it is lowered to what the log holds: what lies beyond, a stranger has written.
   */
  seen: Seen = []
  isProved = false
  /** Pending while the log is asked, once per doubt. */
  asking: Promise<void> | undefined
  readonly #ends: ToldEnds
  /** The positions that prove it; undefined until the log has answered. Lower ones if the log loses its end meanwhile. */
  #required: readonly Offset[] | undefined
  /** The checkpoints of the last look; undefined while in doubt, until the next look. */
  #stored: Checkpoints | undefined
  /** Answers read while nothing is written share this object. */
  #lastSeen: Checkpoints | undefined
  #wasProved = false
  #doubts = 0

  constructor(name: string, ends: ToldEnds) {
    this.name = name
    this.#ends = ends
  }

  /**
   * The new generation was not behind this one anywhere when it became active: what is proved of this one also holds
   * for it.
   */
  followedBy(name: string): KnownGeneration {
    const next = new KnownGeneration(name, this.#ends)
    next.seen = this.seen
    next.#required = []
    return next
  }

  /** Whether a look would prove it. */
  get isDue(): boolean {
    return !this.isProved && (this.#required?.every((end, partition) => (this.seen[partition] ?? 0) >= end) ?? false)
  }

  doubt(): void {
    this.#doubts++
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
    if (!this.isProved) this.asking ??= this.#askLog()
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

  async #askLog(): Promise<void> {
    const [doubts, before] = [this.#doubts, this.seen]
    const ends = await this.#ends.ask().catch(() => undefined)
    if (doubts !== this.#doubts) return
    this.asking = undefined
    if (ends !== undefined) this.#lowerSeen(before, ends)
    // Once proved, it must keep what this process saw of it, even if the log cannot say what else there is. If it was
    // never proved, the next look asks the log again.
    const required = ends ?? (this.#wasProved ? [] : undefined)
    this.#required = this.#required?.map((end, partition) => Math.min(end, required?.[partition] ?? end)) ?? required
    this.#prove()
  }

  /** What was seen before the log was asked for its ends cannot be beyond them. */
  #lowerSeen(before: Seen, ends: readonly Offset[]): void {
    const isBeyond = (offset: Offset | undefined, partition: number) =>
      offset !== undefined && offset === before[partition] && offset > (ends[partition] ?? 0)
    if (this.seen.some(isBeyond))
      this.seen = this.seen.map((offset, partition) => (isBeyond(offset, partition) ? ends[partition] : offset))
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
