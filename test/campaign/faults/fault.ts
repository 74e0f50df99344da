import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../lib/random.ts'

/** Something that goes wrong, and is put right again. */
export interface Fault {
  /** As it stands in the table of docs/faults.md. */
  readonly kind: string
  /**
   * Resolves once it is put right, to whether it happened: there may have been nothing to harm. `isAlone`: without another
   * fault at the same time. Throws only if the campaign itself is wrong.
   */
  inflict(random: Random, isAlone: boolean): Promise<boolean>
}

/** Faults of which one happens at a time; those of different lanes overlap. */
export type Lane = readonly Fault[]

/** A fault that lasts. */
export async function last(random: Random, leastMs = 300, mostMs = 4000): Promise<void> {
  await delay(leastMs + random.below(mostMs - leastMs))
}

/** Longer than Kafka waits for a member of a consumer group (6 s), so that others take over what it did. */
export const forLong = { leastMs: 7000, mostMs: 12_000 }

/** Breaks something, waits and mends it, whatever happens meanwhile. `wrong` resolves to false if it could not break it. */
export function lasting(
  kind: string,
  pick: (random: Random) => { wrong(): unknown; right(): unknown },
  { leastMs, mostMs }: Partial<typeof forLong> = {},
): Fault {
  return {
    kind,
    inflict: async (random) => {
      const { wrong, right } = pick(random)
      try {
        if ((await wrong()) === false) return false
        await last(random, leastMs, mostMs)
        return true
      } finally {
        await right()
      }
    },
  }
}
