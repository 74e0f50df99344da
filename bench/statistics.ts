import type { Round } from './load/load.ts'
import type { Cycle } from './rounds.ts'

/** The spread of figures, one for each cycle. A ratio compares two rounds of one cycle. */
export interface Ratio {
  readonly median: number
  readonly min: number
  readonly max: number
}

export function ratioOf<Name extends string>(cycles: readonly Cycle<Name>[], system: Name, reference: Name): Ratio {
  return spreadOf(cycles.map((cycle) => cycle[system].requestsPerSecond / cycle[reference].requestsPerSecond))
}

export function spreadOf(figures: readonly number[]): Ratio {
  return { median: median(figures), min: Math.min(...figures), max: Math.max(...figures) }
}

/** Medians over the rounds of one system. */
export function figuresOf<Name extends string>(cycles: readonly Cycle<Name>[], system: Name): Round {
  const over = (figure: keyof Round) => median(cycles.map((cycle) => cycle[system][figure]))
  return { requestsPerSecond: over('requestsPerSecond'), p50: over('p50'), p99: over('p99') }
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1)
  return middle.reduce((sum, number) => sum + number, 0) / middle.length
}
