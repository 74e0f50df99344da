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
      ...(own.every(({ output }) => output.hasDisk) ? [fullLogDisk(kind, own)] : []),
      lasting(`clock of ${kind} is hours off`, (random) => wrongClock(random.pick(own), random), clockLasts),
    ] satisfies Fault[]
  })
}

/** Meanwhile the process is ended, as at any time, and has to start. */
function fullLogDisk(kind: string, own: readonly Supervised[]): Fault {
  return {
    kind: `disk of the log of ${kind} is full`,
    inflict: async ({ random, last }) => {
      const service = random.pick(own)
      try {
        await service.output.fillDisk()
        await last(300, 2000)
        await service.end('SIGTERM')
        await last(1000, 2000)
        return true
      } finally {
        service.output.emptyDisk()
      }
    },
  }
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
