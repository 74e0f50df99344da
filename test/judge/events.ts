import { nameOf } from './answers.ts'
import { type Contradiction, contradiction, type Exchange, positionsOf, shownIn } from './history.ts'
import type { Prefixes } from './prefixes.ts'
import { membersOf } from './values.ts'

/**
 * A step of a feed has what took effect between its two ids, in the order of each partition, and nothing else. No id is
 * beyond the end of the log, or behind what was not asked for yet: whoever begins there would miss it.
 */
export function* checkStep(exchange: Exchange, prefixes: Prefixes): Generator<Contradiction> {
  const { token, body, tokenAfter } = exchange
  const [before, after] = [positionsOf(token), positionsOf(tokenAfter)]
  const partitionOf = (event: unknown) => prefixes.partitionFor(String(membersOf(event).subject))
  const told = Map.groupBy(body as readonly unknown[], partitionOf)
  for (const [partition, records] of prefixes.records.entries()) {
    const to = after.get(partition) ?? -1
    const from = token === undefined ? to : (before.get(partition) ?? -1) // it begins at its first id
    const end = (records.at(-1)?.offset ?? -1) + 1
    const expected = prefixes.effectsBetween(partition, from, to)
    const isAsExpected = textOf(expected.flatMap(({ record }) => shownIn(record))) === textOf(told.get(partition) ?? [])
    const largest = prefixes.largestAt(partition, exchange.answeredMs)
    const rules = [
      { rule: 'feed goes back', isBroken: to < from },
      { rule: 'feed differs from the log', isBroken: !isAsExpected },
      { rule: 'feed is beyond the log', isBroken: to >= end },
      { rule: 'read of the future', isBroken: to >= largest },
    ]
    const broken = rules.find(({ isBroken }) => isBroken)
    if (broken === undefined) continue
    const what = `${nameOf(exchange)} is not what partition ${partition} has behind ${from} up to ${to}.`
    const about = expected.slice(0, 5).map(({ record }) => record)
    yield contradiction(broken.rule, what, [exchange], about)
  }
}

function textOf(events: readonly unknown[]): string {
  return events.map((event) => JSON.stringify(event)).join('\n')
}

/** The prefixes that the instance showed. The first id of a feed can be the end of the log, of which nothing is shown yet. */
export function shownByStep({ token, tokenAfter }: Exchange): ReadonlyMap<number, number> {
  if (token === undefined) return new Map()
  const before = positionsOf(token)
  const advanced = [...positionsOf(tokenAfter)].filter(([partition, last]) => last > (before.get(partition) ?? -1))
  return new Map(advanced.map(([partition, last]) => [partition, last + 1]))
}
