import type { Load, LoadClient, Round } from './load/load.ts'
import { say } from './run.ts'

/** A server under load, by its name in the results. */
export interface System<Name extends string> {
  readonly name: Name
  readonly url: string
  readonly load: Load
  /** Resolves once the work that a round left behind is done, so that it burdens no other round. Not measured. */
  readonly settle?: () => Promise<void>
}

/** In the order in which they are loaded; the others are compared with the first. */
export type Systems<Name extends string> = readonly [System<Name>, ...System<Name>[]]

/** One round of each system, directly one after the other. */
export type Cycle<Name extends string> = Readonly<Record<Name, Round>>

export interface Measuring {
  readonly client: LoadClient
  readonly connections: number
  readonly seconds: number
  /** Rounds for each system. */
  readonly rounds: number
}

/** Each system takes this long until V8 has compiled the hot code; from then on the cost of a request is constant. */
const warmUpSeconds = 10

/** `what` names the step in progress messages. Resolves to what the systems did while they were cold. */
export async function warmUp<Name extends string>(
  what: string,
  systems: Systems<Name>,
  { client, connections }: Pick<Measuring, 'client' | 'connections'>,
  seconds = warmUpSeconds,
): Promise<Cycle<Name>> {
  say(`${what}: warming up with ${connections} connections`)
  return await cycle(systems, { client, connections, seconds })
}

/** Measures the systems in turn. */
export async function measureInTurn<Name extends string>(
  what: string,
  systems: Systems<Name>,
  measuring: Measuring,
): Promise<Cycle<Name>[]> {
  const cycles: Cycle<Name>[] = []
  for (let round = 1; round <= measuring.rounds; round++) {
    const measured = await cycle(systems, measuring)
    say(`${what}: round ${round} of ${measuring.rounds}: ${ratios(systems, measured)}`)
    cycles.push(measured)
  }
  return cycles
}

async function cycle<Name extends string>(
  systems: Systems<Name>,
  { client, connections, seconds }: Omit<Measuring, 'rounds'>,
): Promise<Cycle<Name>> {
  const rounds: [Name, Round][] = []
  for (const { name, url, load, settle } of systems) {
    rounds.push([name, await client.run({ url, load, connections, seconds })])
    await settle?.()
  }
  return Object.fromEntries(rounds) as Cycle<Name>
}

function ratios<Name extends string>([first, ...others]: Systems<Name>, measured: Cycle<Name>): string {
  const perSecond = (name: Name) => measured[name].requestsPerSecond
  return others.map(({ name }) => `${name} ${(perSecond(name) / perSecond(first.name)).toFixed(2)}`).join(', ')
}

/** The spread of figures, one per cycle. A ratio compares two rounds of one cycle. */
export interface Ratio {
  readonly median: number
  readonly min: number
  readonly max: number
}

export function ratioOf<Name extends string>(cycles: readonly Cycle<Name>[], system: Name, reference: Name): Ratio {
  return spreadOf(cycles.map((cycle) => cycle[system].requestsPerSecond / cycle[reference].requestsPerSecond))
}

export function spreadOf(figures: readonly number[]): Ratio {
  return { median: median(figures), min: Math.min(...figures), max: Math.max(...figures) }
}

/** Medians over the rounds of one system. */
export function figuresOf<Name extends string>(cycles: readonly Cycle<Name>[], system: Name): Round {
  const over = (figure: keyof Round) => median(cycles.map((cycle) => cycle[system][figure]))
  return { requestsPerSecond: over('requestsPerSecond'), p50: over('p50'), p99: over('p99') }
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1)
  return middle.reduce((sum, number) => sum + number, 0) / middle.length
}
