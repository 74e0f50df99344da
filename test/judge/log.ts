import { type Contradiction, contradiction, isOfService } from './history.ts'
import type { Effective, Prefixes } from './prefixes.ts'

/** What no log of this service can have. */
export function* checkLog(prefixes: Prefixes): Generator<Contradiction> {
  yield* checkOffsets(prefixes)
  for (const record of prefixes.contradicting.filter(isOfService)) {
    const { partition, offset } = record
    const what = `Record ${offset} of partition ${partition} was counted, but contradicts what came before.`
    yield contradiction('impossible record', what, [], prefixes.recordsAround(partition, offset))
  }
  yield* checkOverlaps(prefixes.effects)
}

function* checkOffsets(prefixes: Prefixes): Generator<Contradiction> {
  for (const [partition, records] of prefixes.records.entries()) {
    const at = records.findIndex(({ offset }, index) => offset !== index)
    if (at < 0) continue
    const what = `Partition ${partition} has offset ${records[at]?.offset} where ${at} should be.`
    yield contradiction('log has a gap', what, [], records.slice(Math.max(0, at - 2), at + 3))
  }
}

/** A pet has one open order at most. The effects of each partition are in log order. */
export function* checkOverlaps(effects: readonly Effective[]): Generator<Contradiction> {
  const openOf = new Map<number, Map<number, Effective>>()
  for (const effect of effects) {
    const { pet, order, record } = effect
    if (pet === undefined || order === undefined) continue
    const open = openOf.get(pet.id) ?? new Map<number, Effective>()
    openOf.set(pet.id, open)
    const isOpen = order.status === 'placed' || order.status === 'approved'
    if (isOpen) open.set(order.id, effect)
    else open.delete(order.id)
    if (open.size < 2) continue
    const what = `Pet ${pet.id} has ${open.size} open orders at offset ${record.offset}: ${[...open.keys()].join(', ')}.`
    const records = [...open.values()].map((each) => each.record)
    yield contradiction('orders overlap', what, [], records.slice(-5))
  }
}
