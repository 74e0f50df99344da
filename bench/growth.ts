import { type LatencySummary, memoryVerdicts, type Reading, type Store } from './stores.ts'
import { asVerdicts, type Column, table } from './table.ts'

/** What a store of a size takes: built from the log by a process of its own, then read through the API. */
export interface Growth {
  readonly pets: number
  /** How fast the replay was that built it. */
  readonly eventsPerSecond: number
  readonly seconds: number
  readonly redisMiB: number
  readonly bytesPerPet: number
  /** The most that the replaying process had in memory. */
  readonly projectorMiB: number
  /** What the API process has in memory behind all reads. */
  readonly apiMiB: number
  /** Medians in milliseconds. */
  readonly p50: Readonly<Partial<Record<Reading, number>>>
}

export function growthOf(stores: readonly Store[], latencies: readonly LatencySummary[]): Growth[] {
  return stores.map(({ pets, bytes, apiMiB, replay: { events, ms, peakMiB } }) => ({
    pets,
    eventsPerSecond: (events / ms) * 1000,
    seconds: ms / 1000,
    redisMiB: bytes / 1024 ** 2,
    bytesPerPet: bytes / pets,
    projectorMiB: peakMiB,
    apiMiB: apiMiB(),
    p50: Object.fromEntries(latencies.filter((row) => row.pets === pets).map(({ reading, p50 }) => [reading, p50])),
  }))
}

/**
 * A store of `pets` by calculation: of the largest that was measured, its rate, its bytes for each pet, and the memory of its
 * processes, which does not grow with the store. How long a read takes is not calculated.
 */
export function calculated(measured: readonly Growth[], pets: number): Growth | undefined {
  const largest = measured.at(-1)
  if (largest === undefined) return undefined
  const { eventsPerSecond, bytesPerPet } = largest
  return { ...largest, pets, seconds: pets / eventsPerSecond, redisMiB: (bytesPerPet * pets) / 1024 ** 2, p50: {} }
}

interface Row extends Growth {
  readonly isCalculated: boolean
}

const shown: readonly Reading[] = ['GET by id', 'first page', 'deep page', 'page by category', 'counts']

const columns: readonly Column<Row>[] = [
  { title: 'pets', cell: ({ pets, isCalculated }) => `${pets}${isCalculated ? ', calculated' : ''}` },
  { title: 'replay, events/s', cell: ({ eventsPerSecond }) => eventsPerSecond.toFixed(0) },
  { title: 'replay, s', cell: ({ seconds }) => seconds.toFixed(1) },
  { title: 'Redis, MiB', cell: ({ redisMiB }) => redisMiB.toFixed(1) },
  { title: 'bytes per pet', cell: ({ bytesPerPet }) => bytesPerPet.toFixed(0) },
  { title: 'projector, MiB', cell: ({ projectorMiB }) => projectorMiB.toFixed(0) },
  { title: 'API, MiB', cell: ({ apiMiB }) => apiMiB.toFixed(0) },
  ...shown.map((reading) => ({
    title: `${reading}, ms`,
    cell: ({ p50 }: Row) => p50[reading]?.toFixed(2) ?? '',
  })),
  { title: 'target', cell: ({ isCalculated, ...row }) => (isCalculated ? '' : asVerdicts(memoryVerdicts(row))) },
]

const calculatedPets = 10_000_000

export function growthTable(measured: readonly Growth[]): string {
  const last = calculated(measured, calculatedPets)
  const rows: Row[] = measured.map((row) => ({ ...row, isCalculated: false }))
  return table(columns, last === undefined ? rows : [...rows, { ...last, isCalculated: true }])
}
