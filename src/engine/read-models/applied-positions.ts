import type { Offset, Position } from '../log/event-log.ts'
import type { Look, Progress } from './ports/generations.ts'
import type { Applied, Wait } from './read-model.ts'
import type { ToldEnds } from './told-ends.ts'

/** One timer for all waiters: it checks for expired and abandoned waits. */
export const sweepMs = 20
/** How many offsets without effect are remembered per partition. */
export const withoutEffectMax = 1000

interface Waiter {
  readonly offset: Offset
  readonly deadline: number
  readonly isAbandoned: (() => boolean) | undefined
  readonly settle: (applied: Applied) => void
}

export interface AppliedPositionsOptions {
  /** What messages are believed up to. */
  readonly ends: Pick<ToldEnds, 'of'>
  /** Updates the stored positions here, for waits whose time is up. Never rejects. */
  readonly lookAgain: () => Promise<unknown>
  /** The same, for a message that says more than is believed. */
  readonly lookAtHint: () => void
}

/**
 * How far each partition of the active generation is applied, and who waits for more: from looks, and from announcements
 * of the generation that the last look found active.
 */
export class AppliedPositions {
  readonly #options: AppliedPositionsOptions
  readonly #partitions = new Map<number, AppliedPartition>()
  #generation: string | undefined
  #sweep: NodeJS.Timeout | undefined

  constructor(options: AppliedPositionsOptions) {
    this.#options = options
  }

  get waiting(): number {
    return [...this.#partitions.values()].reduce((sum, { waiters }) => sum + waiters.length, 0)
  }

  whenApplied({ partition, offset }: Position, { timeoutMs, isAbandoned }: Wait): Promise<Applied> {
    const found = this.#partition(partition)
    const applied = found.outcome(offset)
    if (applied !== 'late' || timeoutMs <= 0) return Promise.resolve(applied)
    return new Promise((settle) => {
      found.add({ offset, deadline: performance.now() + timeoutMs, isAbandoned, settle })
      if (found.isAwaitedAsSaid) this.#options.lookAtHint()
      this.#sweep ??= setTimeout(() => this.#endOverdue(), sweepMs)
    })
  }

  heard(generation: string, progress: Progress): void {
    if (generation !== this.#generation) return // it is no more than a reason to look
    const found = this.#partition(progress.partition)
    found.hear(progress, this.#options.ends.of(progress.partition))
    if (found.isAwaitedAsSaid) this.#options.lookAtHint()
  }

  looking(): void {
    for (const partition of this.#partitions.values()) partition.looking()
  }

  looked({ active, checkpoints }: Look): void {
    if (active?.name !== this.#generation) this.forget()
    this.#generation = active?.name
    for (const partition of checkpoints?.keys() ?? []) this.#partition(partition)
    for (const [partition, found] of this.#partitions) found.learn(checkpoints?.get(partition)?.next ?? 0)
  }

  /** What was known may no longer hold. Waiters keep waiting. */
  forget(): void {
    for (const partition of this.#partitions.values()) partition.start(0)
  }

  giveUp(): void {
    clearTimeout(this.#sweep)
    this.#sweep = undefined
    const waiting = [...this.#partitions.values()].flatMap(({ waiters }) => waiters.splice(0))
    for (const { settle } of waiting) settle('late')
  }

  #partition(partition: number): AppliedPartition {
    const found = this.#partitions.get(partition) ?? new AppliedPartition()
    this.#partitions.set(partition, found)
    return found
  }

  #endOverdue(): void {
    this.#sweep = undefined
    const now = performance.now()
    for (const partition of this.#partitions.values()) {
      const over = partition.takeOverdue(now)
      // A message may be lost without a disconnection.
      if (over.length > 0) void this.#options.lookAgain().then(() => partition.settle(over))
    }
    if (this.waiting > 0) this.#sweep = setTimeout(() => this.#endOverdue(), sweepMs)
  }
}

class AppliedPartition {
  /** Waits, in log order. */
  waiters: Waiter[] = []
  /** Everything below it is applied. */
  #next: Offset = 0
  #nextBeforeLook: Offset = 0
  /** The furthest that was announced since the last look began, and not believed. */
  #saidNext: Offset = 0
  /** The outcome of each record from here up to `#next` was announced. */
  #heardFrom: Offset = 0
  readonly #withoutEffect = new Set<Offset>()

  outcome(offset: Offset): Applied {
    if (offset >= this.#next) return 'late'
    if (offset < this.#heardFrom) return 'unheard'
    return this.#withoutEffect.has(offset) ? 'without_effect' : 'applied'
  }

  /**
   * Nothing beyond `end` is believed, but a reason to look. A message may arrive after a look that already showed its
   * positions.
   */
  hear({ from, next: said, withoutEffect }: Progress, end: Offset): void {
    const next = Math.min(said, end)
    if (said > end) this.#saidNext = Math.max(this.#saidNext, said)
    if (next < this.#heardFrom) return
    if (from > this.#next) this.start(Math.min(from, next))
    this.#heardFrom = Math.min(this.#heardFrom, from)
    this.#next = Math.max(this.#next, next)
    for (const offset of withoutEffect) if (offset < next) this.#remember(offset)
    this.#release()
  }

  /** Whether somebody waits for what was said since the last look began, and is not believed. */
  get isAwaitedAsSaid(): boolean {
    const [first] = this.waiters
    return first !== undefined && first.offset < this.#saidNext
  }

  looking(): void {
    this.#nextBeforeLook = this.#next
    this.#saidNext = 0
  }

  /** A look may arrive after messages that were faster. What earlier ones said and it does not show is untrue, or gone. */
  learn(next: Offset): void {
    if (next <= this.#next && next >= this.#nextBeforeLook) return
    this.start(next)
    this.#release()
  }

  /** Forgets announcements about records before `next`. */
  start(next: Offset): void {
    this.#next = next
    this.#heardFrom = next
    this.#withoutEffect.clear()
  }

  add(waiter: Waiter): void {
    this.waiters.splice(this.waiters.findLastIndex(({ offset }) => offset <= waiter.offset) + 1, 0, waiter)
  }

  takeOverdue(now: number): readonly Waiter[] {
    const isOver = ({ deadline, isAbandoned }: Waiter) => deadline <= now || isAbandoned?.() === true
    const { over = [], waiting = [] } = Object.groupBy(this.waiters, (waiter) => (isOver(waiter) ? 'over' : 'waiting'))
    this.waiters = waiting
    return over
  }

  settle(waiters: readonly Waiter[]): void {
    for (const { offset, settle } of waiters) settle(this.outcome(offset))
  }

  #release(): void {
    const first = this.waiters.findIndex(({ offset }) => offset >= this.#next)
    this.settle(this.waiters.splice(0, first < 0 ? this.waiters.length : first))
  }

  #remember(offset: Offset): void {
    this.#withoutEffect.add(offset)
    if (this.#withoutEffect.size <= withoutEffectMax) return
    const [oldest = offset] = this.#withoutEffect
    this.#withoutEffect.delete(oldest)
    this.#heardFrom = Math.max(this.#heardFrom, oldest + 1)
  }
}
