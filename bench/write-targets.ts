import { embedded, onBrokers, type Service } from './systems/service.ts'
import type { Reference, WriteSummary } from './write-summary.ts'

/** What is to be reached. */
interface Goal {
  readonly target: string
  readonly isMet: (summary: WriteSummary) => boolean
}

interface Target extends Goal, Pick<WriteSummary, 'connections' | 'system'> {
  readonly service: Service
}

const targets: readonly Target[] = [
  { service: onBrokers, connections: 1, system: 'service', ...p50Below(1.5) },
  { service: onBrokers, connections: 64, system: 'service, wait=0', ...least(0.4, 'bare') },
  { service: onBrokers, connections: 64, system: 'service, wait=0', ...least(1.6, 'naive') },
  { service: onBrokers, connections: 64, system: 'service', ...least(0.25, 'bare') },
  { service: onBrokers, connections: 256, system: 'service', ...least(0.4, 'bare') },
  { service: embedded, connections: 64, system: 'service', ...least(0.5, 'bare') },
]

export function targetsOf(service: Service, { connections, system }: WriteSummary): readonly Goal[] {
  const applies = (it: Target) => it.service === service && it.connections === connections && it.system === system
  return targets.filter(applies)
}

function least(ratio: number, reference: Reference): Goal {
  return {
    target: `${ratio.toFixed(2)} of ${reference}`,
    isMet: ({ ratios }) => (ratios[reference]?.median ?? 0) >= ratio,
  }
}

function p50Below(ms: number): Goal {
  return { target: `p50 < ${ms.toFixed(2)}`, isMet: ({ p50 }) => p50 < ms }
}
