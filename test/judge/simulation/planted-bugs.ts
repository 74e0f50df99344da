import type { Random } from '../../lib/random.ts'
import type { History } from '../history.ts'
import { answersSeenByBoth } from './answers-seen-by-both.ts'
import { answersSeenWithLog } from './answers-seen-with-log.ts'
import { addRecord, doubleRecord, loseRecord, swapRecords } from './planted-records.ts'
import type { Spoil } from './spoilt-answers.ts'

/** A bug of a service, planted into a correct history. */
export interface PlantedBug {
  readonly name: string
  /** Undefined: this history has no place for it. */
  readonly plant: (history: History, random: Random) => History | undefined
  readonly seenBy: readonly ('log' | 'pets')[]
}

export const plantedBugs: readonly PlantedBug[] = [
  { name: 'a record is lost', seenBy: ['log'], plant: loseRecord },
  { name: 'a pet is written twice', seenBy: ['log'], plant: doubleRecord },
  { name: 'two events of a stream are swapped', seenBy: ['log'], plant: swapRecords },
  { name: 'an event is of no request', seenBy: ['log'], plant: addRecord },
  ...inAnswers(answersSeenByBoth, ['log', 'pets']),
  ...inAnswers(answersSeenWithLog, ['log']),
]

/** Each is planted into one answer. */
function inAnswers(bugs: Readonly<Record<string, Spoil>>, seenBy: PlantedBug['seenBy']): PlantedBug[] {
  return Object.entries(bugs).map(([name, spoil]) => {
    const plant = (history: History, random: Random) => {
      const places = history.exchanges.flatMap((exchange) => spoil(exchange, history) ?? [])
      if (places.length === 0) return undefined
      const spoilt = random.pick(places)
      return { ...history, exchanges: history.exchanges.map((one) => (one.number === spoilt.number ? spoilt : one)) }
    }
    return { name, seenBy, plant }
  })
}
