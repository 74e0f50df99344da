import type { Disturbance, Link } from '../../brokers/link.ts'
import type { Random } from '../../lib/random.ts'
import { type Duration, type Fault, forLong, lasting } from './fault.ts'

type Kind = readonly [kind: string, draw: (random: Random) => Disturbance, lasts?: Duration]

const disturbances: readonly Kind[] = [
  ['is cut', () => ({ kind: 'cut' })],
  ['is silent', () => ({ kind: 'silence', there: true, back: true })],
  ['is silent for long', () => ({ kind: 'silence', there: true, back: true }), forLong],
  ['is silent one way', (random) => oneWay(random.chance(0.5))],
  ['is late', (random) => ({ kind: 'delay', ms: 20 + random.below(400) })],
  ['is slow', (random) => ({ kind: 'slow bytes', bytesPerSecond: 2000 + random.below(30_000) })],
]

/**
 * Faults of the network between some parts, one link or all of a group at once. `between` names them for the table.
 * `usually`: for how long.
 */
export function networkFaults(between: string, groups: readonly (readonly Link[])[], usually?: Duration): Fault[] {
  return disturbances.map(([kind, draw, lasts = usually]) =>
    lasting(
      `network ${between} ${kind}`,
      (random) => {
        const group = random.pick(groups)
        const links = random.chance(0.5) ? group : [random.pick(group)]
        const disturbance = draw(random)
        return {
          wrong: () => {
            for (const link of links) link.disturb(disturbance)
          },
          right: () => {
            for (const link of links) link.heal()
          },
        }
      },
      lasts,
    ),
  )
}

function oneWay(there: boolean): Disturbance {
  return { kind: 'silence', there, back: !there }
}
