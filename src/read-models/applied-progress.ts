import type { Offset, Position } from '../event-log/event-log.ts'
import type { ReadModels } from './read-models.ts'

interface Waiter {
  readonly offset: Offset
  readonly timer: NodeJS.Timeout
  readonly settle: (applied: boolean) => void
}

/**
 * Tells when a position of the log is applied to the read models. What the store announces is remembered per
 * partition, so a wait looks before it registers; what may have been missed is read from the store.
 */
export class AppliedProgress {
  readonly #store: Pick<ReadModels, 'active' | 'checkpoints' | 'listen'>
  readonly #endListening: () => void
  #generation: string | undefined
  #applied = new Map<number, Offset>()
  #waiters = new Map<number, Waiter[]>()
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
   * Resolves to true once the record at `position` is applied; to false after `timeoutMs`, or at once when the store
   * cannot tell, and on close. Never rejects.
   */
  whenApplied({ partition, offset }: Position, timeoutMs: number): Promise<boolean> {
    if (!this.#hearing) return Promise.resolve(false)
    if (this.#isApplied(partition, offset)) return Promise.resolve(true)
    if (timeoutMs <= 0) return Promise.resolve(false)
    return new Promise((settle) => {
      const timer = setTimeout(() => void this.#timedOut(partition, waiter), timeoutMs)
      const waiter: Waiter = { offset, timer, settle }
      const waiters = this.#waiters.get(partition) ?? []
      waiters.splice(firstBeyond(waiters, offset), 0, waiter)
      this.#waiters.set(partition, waiters)
    })
  }

  close(): void {
    this.#endListening()
    this.#hearing = false
    this.#settleAll(false)
  }

  #isApplied(partition: number, offset: Offset): boolean {
    return (this.#applied.get(partition) ?? 0) > offset
  }

  #heard(generation: string, at: { partition: number; next: Offset } | undefined): void {
    if (generation !== this.#generation) {
      this.#generation = generation
      this.#applied = new Map()
    }
    if (at === undefined) return
    this.#applied.set(at.partition, at.next)
    this.#release(at.partition, at.next)
  }

  /** In the order of the log. */
  #release(partition: number, next: Offset): void {
    const waiters = this.#waiters.get(partition)
    if (waiters === undefined) return
    for (const { timer, settle } of waiters.splice(0, firstBeyond(waiters, next - 1))) {
      clearTimeout(timer)
      settle(true)
    }
  }

  async #timedOut(partition: number, waiter: Waiter): Promise<void> {
    const waiters = this.#waiters.get(partition) ?? []
    const at = waiters.indexOf(waiter, Math.max(0, firstBeyond(waiters, waiter.offset - 1)))
    if (at !== -1) waiters.splice(at, 1)
    await this.#readPositions() // an announcement may have been lost without a disconnection
    waiter.settle(this.#isApplied(partition, waiter.offset))
  }

  /** Leaves what is known as it is when the store does not answer. */
  async #readPositions(): Promise<void> {
    try {
      const active = await this.#store.active()
      const checkpoints = active && (await this.#store.checkpoints(active.name))
      if (active === undefined || checkpoints === undefined) return
      for (const [partition, { next }] of checkpoints) this.#heard(active.name, { partition, next })
    } catch {
      // The caller's wait ends as not applied; the store itself reports what is wrong with it.
    }
  }

  #settleAll(applied: boolean): void {
    const waiting = [...this.#waiters.values()].flat()
    this.#waiters = new Map()
    for (const { timer, settle } of waiting) {
      clearTimeout(timer)
      settle(applied)
    }
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
