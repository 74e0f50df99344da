import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../lib/random.ts'
import type { Supervised } from '../system/supervised.ts'
import { type Fault, forLong, lasting } from './fault.ts'

const clockLasts = { leastMs: 1500, mostMs: 5000 }

/** Faults of the processes of the service. */
export function processFaults(services: readonly Supervised[]): Fault[] {
  const kinds = [...new Set(services.map(kindOf))]
  return kinds.flatMap((kind) => {
    const own = services.filter((service) => kindOf(service) === kind)
    const standsStill = (random: Random) => {
      const service = random.pick(own)
      return { wrong: () => service.pause(), right: () => service.resume() }
    }
    return [
      { kind: `kill -9 of ${kind}`, inflict: ({ random }) => random.pick(own).end('SIGKILL') },
      { kind: `restart of ${kind}`, inflict: ({ random }) => random.pick(own).end('SIGTERM') },
      lasting(`${kind} stands still (SIGSTOP)`, standsStill),
      lasting(`${kind} stands still for long (SIGSTOP)`, standsStill, forLong),
      lasting(`clock of ${kind} is hours off`, (random) => wrongClock(random.pick(own), random), clockLasts),
    ] satisfies Fault[]
  })
}

function wrongClock(service: Supervised, random: Random) {
  const hours = (1 + random.below(6)) * (random.chance(0.5) ? 1 : -1)
  return { wrong: () => service.setClock(hours), right: () => service.setClock(0) }
}

/** One process after the other is ended in order and has to be ready again before the next one. */
export function rollingDeploy(services: readonly Supervised[]): Fault {
  return {
    kind: 'rolling deploy',
    inflict: async () => {
      for (const service of services) {
        await service.end('SIGTERM')
        const deadline = performance.now() + 10_000
        while (performance.now() < deadline && !(await service.isReady())) await delay(100)
      }
      return true
    },
  }
}

/** `api-2` is an api. */
function kindOf({ name }: Supervised): string {
  return name.replace(/-\d+$/, '')
}
