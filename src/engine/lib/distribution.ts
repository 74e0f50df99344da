/** A histogram: counts per bucket, and the sum. */
export class Distribution {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[]
  /** How many values are up to each bound and beyond the one before; at the end, how many are beyond all. */
  readonly counts: number[]
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = [...bounds, 0].map(() => 0)
  }

  add(value: number): void {
    let bucket = 0
    while (value > (this.bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1
    this.sum += value
  }
}
