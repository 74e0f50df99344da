import type { Offset, Position } from '../event-log/event-log.ts'
import type { AppliedTo, ReadModels } from './read-models.ts'

/** How long to wait; the end of a wait may be noticed up to `sweepMs` late. */
export interface Wait {
  /** Milliseconds; 0 or less: not at all. */
  readonly timeoutMs: number
  /** Whether nobody wants the answer any more, which ends the wait early. */
  readonly isAbandoned?: (() => boolean) | undefined
}

interface Waiter {
  readonly offset: Offset
  readonly deadline: number
  readonly isAbandoned: (() => boolean) | undefined
  readonly settle: (applied: boolean) => void
}

const parkedMax = 1000

/** One timer for all waiters: of each, it looks at the time and at whether it is abandoned. */
export const sweepMs = 20

/**
 * Tells when a position of the log is applied to the read models. What the store announces is remembered per
 * partition, so a wait looks before it registers; what may have been missed is read from the store.
 */
export class AppliedProgress {
  readonly #store: Pick<ReadModels, 'active' | 'checkpoints' | 'listen'>
  readonly #endListening: () => void
  #generation: string | undefined
  #applied = new Map<number, Offset>()
  /** What was announced last as parked: by partition and offset, the oldest first. */
  readonly #parked = new Set<string>()
  #waiters = new Map<number, Waiter[]>()
  #sweep: NodeJS.Timeout | undefined
  #hearing = false

  constructor(store: Pick<ReadModels, 'active' | 'checkpoints' | 'listen'>) {
    this.#store = store
    this.#endListening = store.listen({
      progress: (generation, at) => this.#heard(generation, at),
      connected: () => {
        this.#hearing = true
        void this.#readPositions()
      },
      disconnected: () => {
        this.#hearing = false
        this.#settleAll(false)
      },
    })
  }

  /**
   * Resolves to true once the record at `position` is applied; to false when the time is over or the wait is abandoned,
   * at once when the store cannot tell, and on close. Never rejects.
   */
  whenApplied({ partition, offset }: Position, { timeoutMs, isAbandoned }: Wait): Promise<boolean> {
    if (!this.#hearing) return Promise.resolve(false)
    if (this.#isApplied(partition, offset)) return Promise.resolve(true)
    if (timeoutMs <= 0) return Promise.resolve(false)
    return new Promise((settle) => {
      const waiters = this.#waiters.get(partition) ?? []
      const waiter = { offset, deadline: performance.now() + timeoutMs, isAbandoned, settle }
      waiters.splice(firstBeyond(waiters, offset), 0, waiter)
      this.#waiters.set(partition, waiters)
      this.#sweep ??= setTimeout(() => this.#endOverdue(), sweepMs)
    })
  }

  /** Whether the record at a position that was waited for is known to be parked. */
  isParked({ partition, offset }: Position): boolean {
    return this.#parked.has(`${partition}/${offset}`)
  }

  /** How many wait now. */
  get waiting(): number {
    return [...this.#waiters.values()].reduce((sum, waiters) => sum + waiters.length, 0)
  }

  close(): void {
    this.#endListening()
    this.#hearing = false
    this.#settleAll(false)
  }

  #isApplied(partition: number, offset: Offset): boolean {
    return (this.#applied.get(partition) ?? 0) > offset
  }

  #heard(generation: string, at: AppliedTo | undefined): void {
    if (at === undefined || this.#generation === undefined) this.#follow(generation)
    if (at !== undefined && generation === this.#generation) this.#advance(at)
    else void this.#readPositions() // it may have taken over from another one, or be active no longer
  }

  #follow(generation: string): void {
    if (generation === this.#generation) return
    this.#generation = generation
    this.#applied = new Map()
  }

  #advance({ partition, next, parked = [] }: { partition: number; next: Offset; parked?: readonly Offset[] }): void {
    for (const offset of parked) this.#remember(`${partition}/${offset}`)
    // A position that was read may arrive behind a later one that was announced.
    if (this.#isApplied(partition, next - 1)) return
    this.#applied.set(partition, next)
    this.#release(partition, next)
  }

  #remember(parked: string): void {
    this.#parked.add(parked)
    const [oldest] = this.#parked
    if (this.#parked.size > parkedMax && oldest !== undefined) this.#parked.delete(oldest)
  }

  /** In the order of the log. */
  #release(partition: number, next: Offset): void {
    const waiters = this.#waiters.get(partition)
    if (waiters === undefined) return
    for (const { settle } of waiters.splice(0, firstBeyond(waiters, next - 1))) settle(true)
  }

  #endOverdue(): void {
    this.#sweep = undefined
    const now = performance.now()
    for (const [partition, waiters] of this.#waiters) {
      const [waiting, abandoned, late]: [Waiter[], Waiter[], Waiter[]] = [[], [], []]
      for (const waiter of waiters) {
        if (waiter.isAbandoned?.()) abandoned.push(waiter)
        else if (waiter.deadline <= now) late.push(waiter)
        else waiting.push(waiter)
      }
      this.#waiters.set(partition, waiting)
      for (const { settle } of abandoned) settle(false)
      if (late.length > 0) void this.#timedOut(partition, late)
    }
    if (this.waiting > 0) this.#sweep = setTimeout(() => this.#endOverdue(), sweepMs)
  }

  async #timedOut(partition: number, late: readonly Waiter[]): Promise<void> {
    await this.#readPositions() // an announcement may have been lost without a disconnection
    for (const { offset, settle } of late) settle(this.#isApplied(partition, offset))
  }

  /** Leaves what is known as it is when the store does not answer. */
  async #readPositions(): Promise<void> {
    const known = this.#generation
    try {
      const active = await this.#store.active()
      const checkpoints = active && (await this.#store.checkpoints(active.name))
      if (active === undefined || checkpoints === undefined) return
      if (this.#generation !== known) return // another one was started meanwhile: its progress is heard
      this.#follow(active.name)
      for (const [partition, { next }] of checkpoints) this.#advance({ partition, next })
    } catch {
      // The caller's wait ends as not applied; the store itself reports what is wrong with it.
    }
  }

  #settleAll(applied: boolean): void {
    const waiting = [...this.#waiters.values()].flat()
    this.#waiters = new Map()
    clearTimeout(this.#sweep)
    this.#sweep = undefined
    for (const { settle } of waiting) settle(applied)
  }
}

/** Waiters are sorted by offset: the index of the first one waiting for more than `offset`. */
function firstBeyond(waiters: readonly Waiter[], offset: Offset): number {
  let low = 0
  let high = waiters.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((waiters[middle]?.offset ?? 0) > offset) high = middle
    else low = middle + 1
  }
  return low
}
