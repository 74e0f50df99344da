import { table } from '../../bench/table.ts'
import type { Contradiction } from '../judge/history.ts'
import { added, allSeen, type FaultSummary } from './journal.ts'

/** Markdown: every kind of fault, what clients saw while it happened alone, and how long it took. */
export function faultTable(faults: readonly FaultSummary[]): string {
  const rows = added(faults).toSorted((one, other) => one.kind.localeCompare(other.kind))
  return table(
    [
      { title: 'fault', cell: ({ kind }) => kind },
      { title: 'times', cell: ({ times }) => String(times) },
      { title: 'alone', cell: ({ timesAlone }) => String(timesAlone) },
      ...allSeen.map((seen) => ({ title: seen, cell: ifAlone(({ seen: count }) => String(count[seen])) })),
      { title: 'took, s', cell: ifAlone(({ longestMs }) => asSeconds(longestMs)) },
      { title: 'without 2xx, s', cell: ifAlone(({ longestSilenceMs }) => asSeconds(longestSilenceMs)) },
    ],
    rows,
  )
}

function ifAlone(cell: (fault: FaultSummary) => string): (fault: FaultSummary) => string {
  return (fault) => (fault.timesAlone === 0 ? '' : cell(fault))
}

function asSeconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}

/** For people: the rule, and all that is known of the exchanges and records concerned. */
export function describeContradiction({ rule, what, exchanges, records }: Contradiction): string {
  const lines = [
    `  ${rule}: ${what}`,
    ...exchanges.slice(0, 4).map((exchange) => `    ${JSON.stringify(exchange).slice(0, 1000)}`),
    ...records.slice(0, 6).map((record) => `    ${JSON.stringify(record).slice(0, 500)}`),
  ]
  return lines.join('\n')
}
