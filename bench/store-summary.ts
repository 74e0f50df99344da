import type { Cycle } from './rounds.ts'
import { figuresOf, type Ratio, spreadOf } from './statistics.ts'
import { type Reading, readingOf, readings, type Store, type StoreReading } from './stores.ts'

export interface MemorySummary {
  readonly pets: number
  readonly bytesPerPet: number
}

/** One kind of read of one store. */
export interface LatencySummary {
  readonly reading: Reading
  readonly pets: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Ratios of medians: a deep page to the first one of the same store. */
  readonly toFirstPage: Ratio | undefined
  /** And the same kind of read to that of the smallest store. */
  readonly toSmallest: Ratio | undefined
}

export function summarizeMemory(stores: readonly Store[]): MemorySummary[] {
  return stores.map(({ pets, bytes }) => ({ pets, bytesPerPet: bytes / pets }))
}

/** `sizes` are those of the stores, ascending. */
export function summarizeLatencies(sizes: readonly number[], cycles: readonly Cycle<StoreReading>[]): LatencySummary[] {
  const [smallest = 0] = sizes
  const ratio = (reading: StoreReading, reference: StoreReading) =>
    spreadOf(cycles.map((cycle) => (cycle[reading]?.p50 ?? Number.NaN) / (cycle[reference]?.p50 ?? Number.NaN)))
  return readings.flatMap((reading) =>
    sizes.map((pets) => {
      const name = readingOf(reading, pets)
      const { p50, p99 } = figuresOf(cycles, name)
      return {
        reading,
        pets,
        p50,
        p99,
        toFirstPage: reading === 'deep page' ? ratio(name, readingOf('first page', pets)) : undefined,
        toSmallest: pets === smallest ? undefined : ratio(name, readingOf(reading, smallest)),
      }
    }),
  )
}
