import type { Countable, Counting } from './definition.ts'

/** What the counters of these countings begin with; behind it comes a value that events are counted by. */
export function counterPrefixes(countings: readonly Counting<never>[]): string[] {
  return countings.flatMap(({ name, by }) => Object.keys(by).map((key) => `${name}:${key}:`))
}

/** The values that an event is counted by, in the order of `counterPrefixes`. */
export function countedBy<Event>(countings: readonly Counting<Event>[], event: Event): Countable[] {
  const values: Countable[] = []
  for (const { by } of countings) for (const value of Object.values(by)) values.push(value(event))
  return values
}

/** Adds up what each counter goes up by. Their names are put together at the end only, as events are many. */
export class Tally {
  readonly #prefixes: readonly string[]
  readonly #counts: readonly Map<Countable, number>[]

  constructor(prefixes: readonly string[]) {
    this.#prefixes = prefixes
    this.#counts = prefixes.map(() => new Map())
  }

  add(values: readonly Countable[]): void {
    for (let i = 0; i < values.length; i++) {
      const value = values[i] as Countable
      this.#counts[i]?.set(value, (this.#counts[i]?.get(value) ?? 0) + 1)
    }
  }

  get counters(): ReadonlyMap<string, number> {
    const named = this.#prefixes.map((prefix, i) =>
      [...(this.#counts[i] ?? [])].map(([value, count]) => [`${prefix}${value}`, count] as const),
    )
    return new Map(named.flat())
  }
}
