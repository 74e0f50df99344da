import type { Random } from '../../lib/random.ts'
import type { History } from '../history.ts'
import { plantedInEvents } from './events.ts'
import { plantedInLibraryAnswers } from './library-answers.ts'
import { plantedInLibraryRecords } from './library-records.ts'
import { plantedInReads } from './reads.ts'
import { plantedInRecords } from './records.ts'
import type { Spoil } from './spoil.ts'
import { plantedInWrites } from './writes.ts'

/** A bug of a service, planted into a correct history. */
export interface PlantedBug {
  readonly name: string
  /** Undefined: this history has no place for it. */
  readonly plant: (history: History, random: Random) => History | undefined
}

export const plantedBugs: readonly PlantedBug[] = [
  ...Object.entries(plantedInRecords).map(([name, plant]) => ({ name, plant })),
  ...inAnswers({ ...plantedInWrites, ...plantedInReads, ...plantedInEvents }),
]

export const plantedInLibrary: readonly PlantedBug[] = [
  ...Object.entries(plantedInLibraryRecords).map(([name, plant]) => ({ name, plant })),
  ...inAnswers(plantedInLibraryAnswers),
]

/** Each is planted into one answer. */
function inAnswers(bugs: Readonly<Record<string, Spoil>>): PlantedBug[] {
  return Object.entries(bugs).map(([name, spoil]) => {
    const plant = (history: History, random: Random) => {
      const places = history.exchanges.flatMap((exchange) => spoil(exchange, history) ?? [])
      if (places.length === 0) return undefined
      const spoilt = random.pick(places)
      return { ...history, exchanges: history.exchanges.map((one) => (one.number === spoilt.number ? spoilt : one)) }
    }
    return { name, plant }
  })
}
