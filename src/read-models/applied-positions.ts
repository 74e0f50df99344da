import type { Offset, Position } from '../event-log/event-log.ts'
import type { Checkpoints, Progress } from './generations.ts'
import type { Applied, Wait } from './read-model.ts'

/** One timer for all waiters: it looks at the time, and at whether a wait is abandoned. */
export const sweepMs = 20
/** How many offsets without effect are remembered for each partition. */
export const withoutEffectMax = 1000

interface Waiter {
  readonly offset: Offset
  readonly deadline: number
  readonly isAbandoned: (() => boolean) | undefined
  readonly settle: (applied: Applied) => void
}

/** How far each partition of one generation is applied, what was heard of that, and who waits for more. */
export class AppliedPositions {
  readonly #lookAgain: () => Promise<unknown>
  #partitions = new Map<number, AppliedPartition>()
  /** In the order of the log. */
  #waiters = new Map<number, Waiter[]>()
  #sweep: NodeJS.Timeout | undefined

  /** `lookAgain` brings the stored positions here, for waits whose time is over. Never rejects. */
  constructor(lookAgain: () => Promise<unknown>) {
    this.#lookAgain = lookAgain
  }

  get waiting(): number {
    return [...this.#waiters.values()].reduce((sum, waiters) => sum + waiters.length, 0)
  }

  whenApplied({ partition, offset }: Position, { timeoutMs, isAbandoned }: Wait): Promise<Applied> {
    const applied = this.#outcome(partition, offset)
    if (applied !== 'late' || timeoutMs <= 0) return Promise.resolve(applied)
    return new Promise((settle) => {
      const waiters = this.#waiters.get(partition) ?? []
      const waiter = { offset, deadline: performance.now() + timeoutMs, isAbandoned, settle }
      waiters.splice(waiters.findLastIndex((other) => other.offset <= offset) + 1, 0, waiter)
      this.#waiters.set(partition, waiters)
      this.#sweep ??= setTimeout(() => this.#endOverdue(), sweepMs)
    })
  }

  heard(progress: Progress): void {
    this.#partition(progress.partition).hear(progress)
    this.#release(progress.partition)
  }

  looked(checkpoints: Checkpoints): void {
    for (const [partition, { next }] of checkpoints) {
      this.#partition(partition).learn(next)
      this.#release(partition)
    }
  }

  /** Who waits goes on waiting. */
  forget(): void {
    this.#partitions = new Map()
  }

  giveUp(): void {
    const waiting = [...this.#waiters.values()].flat()
    this.#waiters = new Map()
    clearTimeout(this.#sweep)
    this.#sweep = undefined
    for (const { settle } of waiting) settle('late')
  }

  #partition(partition: number): AppliedPartition {
    let found = this.#partitions.get(partition)
    if (found === undefined) {
      found = new AppliedPartition()
      this.#partitions.set(partition, found)
    }
    return found
  }

  #outcome(partition: number, offset: Offset): Applied {
    return this.#partitions.get(partition)?.outcome(offset) ?? 'late'
  }

  #release(partition: number): void {
    const waiters = this.#waiters.get(partition) ?? []
    const { next } = this.#partition(partition)
    const first = waiters.findIndex(({ offset }) => offset >= next)
    this.#settle(partition, waiters.splice(0, first < 0 ? waiters.length : first))
  }

  #settle(partition: number, waiters: readonly Waiter[]): void {
    for (const { offset, settle } of waiters) settle(this.#outcome(partition, offset))
  }

  #endOverdue(): void {
    this.#sweep = undefined
    const now = performance.now()
    for (const [partition, waiters] of this.#waiters) {
      const isOver = ({ deadline, isAbandoned }: Waiter) => deadline <= now || isAbandoned?.() === true
      const { over, waiting = [] } = Object.groupBy(waiters, (waiter) => (isOver(waiter) ? 'over' : 'waiting'))
      this.#waiters.set(partition, waiting)
      // A message may have been lost without a disconnection.
      if (over !== undefined) void this.#lookAgain().then(() => this.#settle(partition, over))
    }
    if (this.waiting > 0) this.#sweep = setTimeout(() => this.#endOverdue(), sweepMs)
  }
}

class AppliedPartition {
  /** Everything below it is applied. */
  next: Offset = 0
  /** What became of each record from here up to `next` was heard. */
  #heardFrom: Offset = 0
  readonly #withoutEffect = new Set<Offset>()

  outcome(offset: Offset): Applied {
    if (offset >= this.next) return 'late'
    if (offset < this.#heardFrom) return 'unheard'
    return this.#withoutEffect.has(offset) ? 'without_effect' : 'applied'
  }

  /** Messages may come behind the look that showed their positions already. */
  hear({ from, next, withoutEffect }: Progress): void {
    if (next < this.#heardFrom) return
    if (from > this.next) this.learn(from)
    this.#heardFrom = Math.min(this.#heardFrom, from)
    this.next = Math.max(this.next, next)
    for (const offset of withoutEffect) this.#remember(offset)
  }

  /** A look may come behind messages that were faster. */
  learn(next: Offset): void {
    if (next <= this.next) return
    this.next = next
    this.#heardFrom = next
    this.#withoutEffect.clear()
  }

  #remember(offset: Offset): void {
    this.#withoutEffect.add(offset)
    if (this.#withoutEffect.size <= withoutEffectMax) return
    const [oldest = offset] = this.#withoutEffect
    this.#withoutEffect.delete(oldest)
    this.#heardFrom = Math.max(this.#heardFrom, oldest + 1)
  }
}
