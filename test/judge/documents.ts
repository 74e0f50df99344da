import { type Contradiction, contradiction, type History, type LogRecord } from './history.ts'
import type { Shown } from './operations.ts'
import { Prefixes } from './prefixes.ts'

/** The documents of one collection. */
export interface ToldDocuments {
  readonly collection: Shown
  /** What is committed in their topic. */
  readonly records: readonly LogRecord[]
  /** What GET shows of an id: null where it answers 404. */
  readonly shown: (id: number) => Promise<string | null>
}

const contradictionsMax = 20

/**
 * The last value of each document that ever was is what GET shows, byte for byte, and that of a removed one is null. All
 * of a key is in the partition of the key; and there is nothing else.
 */
export async function checkDocuments(
  history: History,
  partitions: number,
  { collection, records, shown }: ToldDocuments,
): Promise<readonly Contradiction[]> {
  const prefixes = new Prefixes(history, partitions)
  const told = Map.groupBy(records, ({ key }) => String(key))
  const known = new Map(
    Array.from({ length: partitions }, (_, partition) => partition)
      .flatMap((partition) => prefixes.documents(collection, partition, 0, Number.MAX_SAFE_INTEGER))
      .map(({ key, id }) => [key, id]),
  )
  const found: Contradiction[] = []
  const differs = (what: string, of: readonly LogRecord[]) =>
    found.push(contradiction('documents differ from GET', what, [], of.slice(-10)))
  for (const key of new Set([...known.keys(), ...told.keys()])) {
    if (found.length === contradictionsMax) break
    const of = told.get(key) ?? []
    const last = of.at(-1)
    const id = known.get(key)
    const name = `${key} of ${collection}`
    if (id === undefined) differs(`${name} never was, and is told.`, of)
    else if (last === undefined) differs(`${name} is not told.`, [])
    else if (of.some(({ partition }) => partition !== prefixes.partitionFor(key)))
      differs(`${name} is told in another partition than its own.`, of)
    else {
      const text = await shown(id)
      if (text !== last.value) differs(`${name} is told as ${last.value}, and GET shows ${text}.`, of)
    }
  }
  return found
}
