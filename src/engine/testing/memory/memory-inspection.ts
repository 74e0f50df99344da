import { DamagedError } from '../../read-models/damaged.ts'
import { isKeyed, isTextSet } from '../../read-models/document.ts'
import { type Inspection, type Item, type Size, scannedCharactersMax } from '../../read-models/ports/inspection.ts'
import type { GenerationData } from './memory-data.ts'
import type { MemoryStore } from './opened-store.ts'

export function inspectionOf(store: MemoryStore): Inspection {
  function inspect<T extends object>(name: string, read: (generation: GenerationData) => T) {
    const generation = store.generation(name)
    return generation && { snapshot: store.snapshot(generation), ...read(generation) }
  }
  return {
    contents: async (name) => inspect(name, (generation) => ({ sizes: generation.sizes() })),

    recorded: async (name) => inspect(name, (generation) => ({ sizes: recordedIn(generation.sizes()) })),

    scan: async (name, set, from, limit) =>
      inspect(name, (generation) => {
        const left = itemsIn(generation, set).filter(
          ([id]) => from === undefined || (isKeyed(set) ? compareTexts : compareIds)(id, from) >= 0,
        )
        const items: Item[] = []
        let characters = 0
        for (const [id, text] of left) {
          if (items.length === limit || characters >= scannedCharactersMax) return { items, next: id }
          items.push([id, text])
          characters += text.length
        }
        return { items, next: undefined }
      }),

    find: async (name, set, ids) =>
      inspect(name, (generation) => {
        const texts = new Map(itemsIn(generation, set))
        return { texts: ids.map((id) => texts.get(id)) }
      }),
  }
}

function recordedIn(sizes: ReadonlyMap<string, Size>): ReadonlyMap<string, number> {
  for (const [set, { recorded }] of sizes)
    if (Number.isNaN(recorded)) throw new DamagedError(`the recorded size of ${set} is not a number`)
  return new Map([...sizes].map(([set, { recorded }]) => [set, recorded]))
}

function itemsIn(generation: GenerationData, set: string): Item[] {
  const items = isTextSet(set)
    ? [...generation.set<string>(set)].map(([id, text]): Item => [String(id), text])
    : [...generation.documents(set)].map(([entry, { collection, json, behind }]): Item => {
        return [String(entry), set === collection ? `${json}\0${behind}` : json]
      })
  return items.sort(([a], [b]) => (isKeyed(set) ? compareTexts : compareIds)(a, b))
}

/** Compares their bytes: JavaScript itself compares code units. */
function compareTexts(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** Decimal numbers of any length. */
function compareIds(a: string, b: string): number {
  return a.length - b.length || compareTexts(a, b)
}
