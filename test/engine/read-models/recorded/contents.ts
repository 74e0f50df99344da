import type { Definition } from '../../../../src/engine/definition/definition.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'

/** Everything in a store, as it is there: by each place that has any, its entries in order. */
export type Contents = Readonly<Record<string, readonly unknown[]>>

export type Use = (store: ReadModelStore) => Promise<void>

export interface RecordedAdapter {
  /** With the number of the layout that is the adapter's own, if there is one. */
  readonly name: string
  /** What is in an empty store after it was used. */
  contentsAfter(definition: Definition, use: Use): Promise<Contents>
}

/** The log that the read models are built from. */
export const logId = '75f319b9-8cbd-4c5e-9c4f-0f2f3d1f7a52'

export function contentsOf(places: readonly (readonly [place: string, entries: readonly unknown[]])[]): Contents {
  const found = places.filter(([, entries]) => entries.length > 0)
  return Object.fromEntries(found.map(([place, entries]) => [place, entries.toSorted(byText)] as const).sort(byText))
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}

/** Milliseconds since 1970 differ from run to run. */
export function withoutTime(value: unknown): unknown {
  return /^1\d{12}$/.test(String(value)) ? 'a time' : value
}
