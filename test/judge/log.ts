import { type Contradiction, contradiction, isOfService } from './history.ts'
import type { Prefixes } from './prefixes.ts'

/** What no log of this service can have. */
export function* checkLog(prefixes: Prefixes): Generator<Contradiction> {
  yield* checkOffsets(prefixes)
  for (const record of prefixes.contradicting.filter(isOfService)) {
    const { partition, offset } = record
    const what = `Record ${offset} of partition ${partition} was counted, but contradicts what came before.`
    yield contradiction('impossible record', what, [], prefixes.recordsAround(partition, offset))
  }
  for (const { flaw, record } of prefixes.effects.filter(({ flaw }) => flaw !== undefined)) {
    const what = `Record ${record.offset} of partition ${record.partition} is what no command makes happen: ${flaw}.`
    yield contradiction('impossible decision', what, [], prefixes.recordsAround(record.partition, record.offset))
  }
  yield* prefixes.service.checkEffects(prefixes.effects)
}

function* checkOffsets(prefixes: Prefixes): Generator<Contradiction> {
  for (const [partition, records] of prefixes.records.entries()) {
    const at = records.findIndex(({ offset }, index) => offset !== index)
    if (at < 0) continue
    const what = `Partition ${partition} has offset ${records[at]?.offset} where ${at} should be.`
    yield contradiction('log has a gap', what, [], records.slice(Math.max(0, at - 2), at + 3))
  }
}
