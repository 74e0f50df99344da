import { randomUUID } from 'node:crypto'
import type { Message } from 'kafkajs'
import { beginTransaction, type ForeignTransaction } from '../../brokers/transactions.ts'
import { eventRecord } from '../../lib/event-record.ts'
import type { Random } from '../../lib/random.ts'
import { clientOf } from '../system/topic-admin.ts'
import type { Fault, Occasion } from './fault.ts'

/** How long one stays that its producer leaves as it is: until then nobody reads what is behind it. */
const timeoutMs = 5000
/** Far above those that the service gives out during a campaign. */
const firstId = 1_000_000_000

/** How long others may keep it from happening where it is alone. */
const aloneMs = 60_000

/**
 * Other programs add pets in transactions that interleave, in any order of their ends: what aborts never happened.
 * Those that fail on the way are Kafka's to end: a slow machine can use up the time that one of them has. Without another
 * fault they are begun again then.
 */
export function foreignTransactions(brokers: string, topic: string): Fault {
  return {
    kind: 'transactions of other producers',
    inflict: async (occasion) => {
      const untilMs = performance.now() + aloneMs
      for (;;) {
        try {
          await interleave(brokers, topic, occasion)
          return true
        } catch (error) {
          if (!occasion.isAlone) return false
          if (performance.now() > untilMs) throw error
        }
      }
    },
  }
}

async function interleave(brokers: string, topic: string, { random, last }: Occasion): Promise<void> {
  const begun: ForeignTransaction[] = []
  try {
    for (let i = 2 + random.below(2); i > 0; i--) {
      begun.push(await beginTransaction(clientOf(brokers), topic, { timeoutMs }))
    }
    for (let round = 0; round < 2; round++) {
      for (const each of random.shuffle(begun)) await each.send(newPet(random), newPet(random))
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

function newPet(random: Random): Message {
  const id = firstId + random.below(firstId)
  const data = { id, name: 'from elsewhere', categoryId: 1, status: random.pick(['available', 'pending', 'sold']) }
  const said = { type: 'petstore.PetCreated.v1', source: '/elsewhere', streamversion: 1, data }
  return eventRecord({ id: randomUUID(), subject: String(id), ...said })
}
