import type { Measured, Pair } from './pairs.ts'

export interface Summary {
  readonly bare: Figures
  readonly service: Figures
  /** Service to bare, of requests per second. */
  readonly ratio: { readonly median: number; readonly min: number; readonly max: number }
}

/** Medians over the rounds. */
export interface Figures {
  readonly requestsPerSecond: number
  readonly p50: number
  readonly p99: number
}

export function summarize({ pairs }: Measured): Summary {
  const ratios = pairs.map(({ bare, service }) => service.requestsPerSecond / bare.requestsPerSecond)
  return {
    bare: figures(pairs, 'bare'),
    service: figures(pairs, 'service'),
    ratio: { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) },
  }
}

function figures(pairs: readonly Pair[], which: keyof Pair): Figures {
  const over = (figure: keyof Figures) => median(pairs.map((pair) => pair[which][figure]))
  return { requestsPerSecond: over('requestsPerSecond'), p50: over('p50'), p99: over('p99') }
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1)
  return middle.reduce((sum, number) => sum + number, 0) / middle.length
}
