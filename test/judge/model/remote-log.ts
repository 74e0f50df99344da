import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import type { EventLog, Offset, Subscription } from '../../../src/engine/log/event-log.ts'
import { withMethods } from '../../engine/projector/world.ts'
import type { Wire } from './wire.ts'

/** What becomes of an append, and what its caller hears. */
export const appendFaults = [
  'refused', // nothing becomes of it, and the caller is told so
  'lost', // nothing becomes of it, and nobody knows
  'reply lost', // it is carried out, and nobody knows
  'late', // it is carried out after the caller was told that nobody knows
  'slow', // it is carried out, but not within the time that anybody waits for it
] as const
export type AppendFault = (typeof appendFaults)[number]

const lateMs = 500
const slowMs = 3000
/** No append is on its way for longer. */
export const appendMsMax = slowMs + 100

/** The event log as one process reaches it. */
export function remoteLog(log: EventLog, wire: Wire) {
  const subscriptions: Subscription[] = []
  let faults: AppendFault[] = []
  const remote = withMethods(log, {
    append: (partition, records) => {
      const fault = faults.shift()
      return wire.carry(() => carryOut(() => log.append(partition, records), fault))
    },
    reserveIdBlock: () => wire.carry(() => log.reserveIdBlock()),
    endOffsets: () => wire.carry(() => log.endOffsets()),
    read: (...place) => wire.carry(() => log.read(...place)),
    subscribe: async (group, subscriber) => {
      const subscription = await log.subscribe(group, {
        assigned: (partitions) => subscriber.assigned(partitions),
        batch: (batch) => Promise.race([subscriber.batch(batch), wire.end.then(() => false)]),
      })
      subscriptions.push(subscription)
      return subscription
    },
  })
  return {
    ...remote,
    /** The next append that no fault is meant for yet meets this one. */
    failAppend(fault: AppendFault): void {
      faults.push(fault)
    },
    heal(): void {
      faults = []
    },
    /** The process is no more. */
    abandon(): void {
      for (const subscription of subscriptions) void subscription.close()
    },
  }
}

async function carryOut(append: () => Promise<Offset>, fault: AppendFault | undefined): Promise<Offset> {
  if (fault === undefined) return append()
  if (fault === 'refused') throw new ServiceError('event_log_unavailable', 'refused')
  if (fault === 'slow') return after(slowMs, append)
  if (fault === 'reply lost') await append()
  if (fault === 'late') void after(lateMs, append)
  throw new ServiceError('append_outcome_unknown', fault)
}

function after<T>(ms: number, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(work()), ms))
}
