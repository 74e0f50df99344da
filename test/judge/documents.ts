import { type Contradiction, contradiction, type History, type LogRecord } from './history.ts'
import type { Shown } from './operations.ts'
import { type DocumentHistory, Prefixes } from './prefixes.ts'
import { textOf } from './values.ts'

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
 * GET shows each document as the log leaves it. The last value of each that ever was is what GET shows, byte for byte, and
 * that of a removed one is null. All of a key is in the partition of the key; and there is nothing else.
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
      .map((document) => [document.key, document]),
  )
  const found: Contradiction[] = []
  const differs = (what: string, of: readonly LogRecord[]) =>
    found.push(contradiction('documents differ from GET', what, [], of.slice(-10)))
  for (const key of new Set([...known.keys(), ...told.keys()])) {
    if (found.length === contradictionsMax) break
    const of = told.get(key) ?? []
    const last = of.at(-1)
    const document = known.get(key)
    const name = `${key} of ${collection}`
    if (document === undefined) differs(`${name} never was, and is told.`, of)
    else if (last === undefined) differs(`${name} is not told.`, [])
    else if (of.some(({ partition }) => partition !== prefixes.partitionFor(key)))
      differs(`${name} is told in another partition than its own.`, of)
    else {
      const text = await shown(document.id)
      if (!isInLog(document, text)) differs(`GET of ${name} shows ${text}, and the log does not come to that.`, of)
      else if (text !== last.value) differs(`${name} is told as ${last.value}, and GET shows ${text}.`, of)
    }
  }
  return found
}

/** A removed document is not shown. */
function isInLog({ states }: DocumentHistory, text: string | null): boolean {
  const state = states.at(-1)
  const isShown = state !== undefined && !state.isRemoved
  return text === null ? !isShown : isShown && textOf(JSON.parse(text)) === state.text
}
