/** Random numbers that a seed repeats (mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0, and below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer from 0, and below `n`. */
  below(n: number): number {
    return Math.floor(this.next() * n)
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new RangeError('there is nothing to pick from')
    return list[this.below(list.length)] as T
  }

  /** True with this probability. */
  chance(p: number): boolean {
    return this.next() < p
  }

  /** A copy in random order. */
  shuffle<T>(list: readonly T[]): T[] {
    const shuffled = [...list]
    for (let end = shuffled.length - 1; end > 0; end--) {
      const from = this.below(end + 1)
      const moved = shuffled[from] as T
      shuffled[from] = shuffled[end] as T
      shuffled[end] = moved
    }
    return shuffled
  }
}
