import type { Round } from './load/load.ts'
import type { Cycle } from './rounds.ts'
import { figuresOf, type Ratio, ratioOf } from './statistics.ts'

const references = ['bare', 'naive'] as const
export type Reference = (typeof references)[number]

/** In the order in which they are measured. */
const systems = [...references, 'service, wait=0', 'service'] as const
export type WriteSystem = (typeof systems)[number]

/** What came out for one system. */
export interface WriteSummary extends Round {
  readonly system: WriteSystem
  readonly connections: number
  /** To each reference that comes before it. */
  readonly ratios: Readonly<Partial<Record<Reference, Ratio>>>
}

export function summarize(connections: number, cycles: readonly Cycle<WriteSystem>[]): WriteSummary[] {
  return systems.map((system, index) => {
    const before = references.slice(0, index)
    const ratios = Object.fromEntries(before.map((reference) => [reference, ratioOf(cycles, system, reference)]))
    return { system, connections, ...figuresOf(cycles, system), ratios }
  })
}
