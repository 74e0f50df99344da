import { beginTransaction, type ForeignTransaction } from '../../brokers/transactions.ts'
import type { Random } from '../../lib/random.ts'
import type { Served } from '../served.ts'
import { clientOf } from '../system/topic-admin.ts'
import type { Fault, Occasion } from './fault.ts'

/** How long one stays that its producer leaves as it is: until then nobody reads what is behind it. */
const timeoutMs = 5000
/** Far above those that the service gives out during a campaign. */
const firstId = 1_000_000_000

/** How long others may keep it from happening where it is alone. */
const aloneMs = 60_000

/**
 * Other programs add pets, or books, in transactions that interleave, in any order of their ends: what aborts never happened.
 * Those that fail on the way are Kafka's to end: a slow machine can use up the time that one of them has. Without another
 * fault they are begun again then.
 */
export function foreignTransactions(served: Served, brokers: string, topic: string): Fault {
  return {
    kind: 'transactions of other producers',
    inflict: async (occasion) => {
      const untilMs = performance.now() + aloneMs
      for (;;) {
        try {
          await interleave(served, brokers, topic, occasion)
          return true
        } catch (error) {
          if (!occasion.isAlone) return false
          if (performance.now() > untilMs) throw error
        }
      }
    },
  }
}

async function interleave({ foreign }: Served, brokers: string, topic: string, { random, last }: Occasion) {
  const added = () => foreign(firstId + random.below(firstId), random)
  const begun: ForeignTransaction[] = []
  try {
    for (let i = 2 + random.below(2); i > 0; i--) {
      begun.push(await beginTransaction(clientOf(brokers), topic, { timeoutMs }))
    }
    for (let round = 0; round < 2; round++) {
      for (const each of random.shuffle(begun)) await each.send(added(), added())
      await last(50, 500)
    }
    for (const each of random.shuffle(begun)) await end(each, random)
  } catch (error) {
    await Promise.allSettled(begun.map((each) => each.abandon()))
    throw error
  }
}

function end(transaction: ForeignTransaction, random: Random): Promise<void> {
  if (random.chance(0.1)) return transaction.abandon()
  return random.chance(0.5) ? transaction.commit() : transaction.abort()
}
