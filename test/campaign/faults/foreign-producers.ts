import { randomUUID } from 'node:crypto'
import type { Message } from 'kafkajs'
import { beginTransaction, type ForeignTransaction } from '../../brokers/transactions.ts'
import type { Random } from '../../lib/random.ts'
import { clientOf } from '../system/topic-admin.ts'
import type { Fault } from './fault.ts'

/** How long one stays that its producer leaves as it is: until then nobody reads what is behind it. */
const timeoutMs = 5000
/** Far above those that the service gives out during a campaign. */
const firstId = 1_000_000_000

/**
 * Other programs add pets in transactions that interleave, in any order of their ends: what aborts never happened.
 * Those that fail on the way are Kafka's to end.
 */
export function foreignTransactions(brokers: string, topic: string): Fault {
  return {
    kind: 'transactions of other producers',
    inflict: async ({ random, last }) => {
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
        return true
      } catch {
        await Promise.allSettled(begun.map((each) => each.abandon()))
        return false
      }
    },
  }
}

function end(transaction: ForeignTransaction, random: Random): Promise<void> {
  if (random.chance(0.1)) return transaction.abandon()
  return random.chance(0.5) ? transaction.commit() : transaction.abort()
}

function newPet(random: Random): Message {
  const id = firstId + random.below(firstId)
  const data = { id, name: 'from elsewhere', categoryId: 1, status: random.pick(['available', 'pending', 'sold']) }
  const type = 'petstore.PetCreated.v1'
  const event = {
    specversion: '1.0',
    id: randomUUID(),
    type,
    source: '/elsewhere',
    subject: String(id),
    streamversion: 1,
  }
  return { key: String(id), value: JSON.stringify({ ...event, data }) }
}
