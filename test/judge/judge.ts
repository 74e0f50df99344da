import type { Contradiction, History } from './history.ts'
import { checkIdentities } from './identities.ts'
import { checkLog } from './log.ts'
import { Prefixes } from './prefixes.ts'
import { checkReads } from './reads.ts'
import { checkRefusals } from './refusals.ts'
import { checkTags } from './tags.ts'
import { checkWrites } from './writes.ts'

/** More of the same rule tell nothing new. */
const perRuleMax = 20

/**
 * Compares every answer with the prefixes of the log, which has this number of partitions. `isWhole`: the history has all
 * writes of the log.
 */
export function checkAgainstLog(history: History, partitions: number, isWhole: boolean): Contradiction[] {
  const prefixes = new Prefixes(history, partitions)
  const found = [
    ...checkLog(prefixes),
    ...checkIdentities(history, prefixes),
    ...checkReads(history, prefixes),
    ...checkWrites(history, prefixes, isWhole),
    ...checkRefusals(history, prefixes),
    ...checkTags(history, prefixes),
  ]
  const byRule = Map.groupBy(found, ({ rule }) => rule)
  return [...byRule.values()].flatMap((contradictions) => contradictions.slice(0, perRuleMax))
}
