import { type Contradiction, contradiction, type History, type LogRecord, shownIn } from './history.ts'
import { Prefixes } from './prefixes.ts'

const contradictionsMax = 20

/**
 * Each stream has all that took effect of it in a topic of published events, once and in order, in the partition of the
 * stream; and there is nothing else.
 */
export function checkPublished(
  history: History,
  partitions: number,
  published: readonly LogRecord[],
): readonly Contradiction[] {
  const { effects, partitionFor } = new Prefixes(history, partitions)
  const expected = Map.groupBy(effects, ({ record }) => String(record.key))
  const told = Map.groupBy(published, ({ key }) => String(key))
  const found: Contradiction[] = []
  for (const stream of new Set([...expected.keys(), ...told.keys()])) {
    const wanted = (expected.get(stream) ?? [])
      .flatMap(({ record }) => shownIn(record))
      .map((event) => JSON.stringify(event))
    const records = told.get(stream) ?? []
    const isAsWanted = wanted.join('\n') === records.map(({ value }) => textOf(value)).join('\n')
    if (isAsWanted && records.every(({ partition }) => partition === partitionFor(stream))) continue
    const what = `Stream ${stream} has ${wanted.length} events that took effect, and these ${records.length} are published.`
    found.push(contradiction('published differs from the log', what, [], records.slice(0, 10)))
    if (found.length === contradictionsMax) break
  }
  return found
}

/** As `JSON.stringify` has it. */
function textOf(value: string | null): string {
  return JSON.stringify(JSON.parse(String(value)))
}
