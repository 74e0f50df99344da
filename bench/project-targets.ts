import type { ReplaySummary } from './replay.ts'
import type { LatencySummary, MemorySummary } from './store-summary.ts'

export interface Verdict {
  readonly target: string
  readonly met: boolean
}

/** What is to be reached when the log is replayed into Redis, of the raw consumer and by itself. */
const replayTarget = { toRaw: 0.3, eventsPerSecond: 100_000 }
/** Bytes of Redis for the reference pet. The smallest stores are left out: what Redis keeps anyway counts much there. */
export const bytesPerPetMax = 400
const petsWeighedMin = 10_000
const deepToFirstMax = 1.3
/** For pages, over three orders of magnitude. */
const sizes = { small: 1000, large: 1_000_000 }
const largeToSmallMax = 1.5

export function replayVerdicts({ replayer, eventsPerSecond, toRaw }: ReplaySummary): Verdict[] {
  if (replayer !== 'Kafka → Redis' || toRaw === undefined) return []
  return [
    { target: `${replayTarget.toRaw.toFixed(2)} of raw`, met: toRaw.median >= replayTarget.toRaw },
    { target: `${replayTarget.eventsPerSecond}/s`, met: eventsPerSecond.median >= replayTarget.eventsPerSecond },
  ]
}

export function memoryVerdicts({ pets, bytesPerPet }: MemorySummary): Verdict[] {
  if (pets < petsWeighedMin) return []
  return [{ target: `<= ${bytesPerPetMax}`, met: bytesPerPet <= bytesPerPetMax }]
}

/** `smallest` is the size of the store that the others are compared with. */
export function latencyVerdicts(
  { reading, pets, toFirstPage, toSmallest }: LatencySummary,
  smallest: number,
): Verdict[] {
  const verdicts: Verdict[] = []
  if (toFirstPage !== undefined) {
    verdicts.push({
      target: `<= ${deepToFirstMax.toFixed(2)} of first page`,
      met: toFirstPage.median <= deepToFirstMax,
    })
  }
  if (toSmallest !== undefined && reading !== 'GET by id' && pets === sizes.large && smallest === sizes.small) {
    verdicts.push({
      target: `<= ${largeToSmallMax.toFixed(2)} of ${sizes.small} pets`,
      met: toSmallest.median <= largeToSmallMax,
    })
  }
  return verdicts
}
