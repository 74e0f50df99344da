import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../lib/random.ts'

/** Something that goes wrong, and is put right again. */
export interface Fault {
  /** As it stands in the table of docs/faults.md. */
  readonly kind: string
  /**
   * Resolves once it is put right, to whether it happened: there may have been nothing to harm. Throws only if the campaign
   * itself is wrong.
   */
  inflict(occasion: Occasion): Promise<boolean>
}

/** How a fault happens this time. */
export interface Occasion {
  readonly random: Random
  /** Without another fault at the same time. */
  readonly isAlone: boolean
  /** Resolves once a fault that lasts has lasted: for some time between these. */
  last(leastMs: number, mostMs: number): Promise<void>
}

/** All of it is drawn. */
export function drawn(random: Random, isAlone: boolean): Occasion {
  return { random, isAlone, last: (leastMs, mostMs) => delay(leastMs + random.below(mostMs - leastMs)) }
}

/** Faults of which one happens at a time; those of different lanes overlap. */
export type Lane = readonly Fault[]

/** At least and at most, of what a fault draws its own. */
export interface Duration {
  readonly leastMs: number
  readonly mostMs: number
}

const usual: Duration = { leastMs: 300, mostMs: 4000 }

/** Longer than Kafka waits for a member of a consumer group (6 s), so that others take over what it did. */
export const forLong: Duration = { leastMs: 7000, mostMs: 12_000 }

/** Breaks something, waits and mends it, whatever happens meanwhile. `wrong` resolves to false if it could not break it. */
export function lasting(
  kind: string,
  pick: (random: Random) => { wrong(): unknown; right(): unknown },
  { leastMs, mostMs }: Duration = usual,
): Fault {
  return {
    kind,
    inflict: async ({ random, last }) => {
      const { wrong, right } = pick(random)
      try {
        if ((await wrong()) === false) return false
        await last(leastMs, mostMs)
        return true
      } finally {
        await right()
      }
    },
  }
}
