import type {
  EventLog,
  NewRecord,
  Offset,
  ReadRecords,
  Subscriber,
  Subscription,
} from '../../../src/event-log/event-log.ts'
import { ServiceError } from '../../../src/lib/errors.ts'
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
export class RemoteLog implements EventLog {
  readonly logId: string
  readonly partitions: number
  readonly replaced: Promise<void>
  readonly undecodable = []
  readonly warnings = []
  readonly #log: EventLog
  readonly #wire: Wire
  readonly #subscriptions: Subscription[] = []
  #faults: AppendFault[] = []

  constructor(log: EventLog, wire: Wire) {
    this.logId = log.logId
    this.partitions = log.partitions
    this.replaced = log.replaced
    this.#log = log
    this.#wire = wire
  }

  /** The next append that no fault is meant for yet meets this one. */
  failAppend(fault: AppendFault): void {
    this.#faults.push(fault)
  }

  heal(): void {
    this.#faults = []
  }

  /** The process is no more. */
  abandon(): void {
    for (const subscription of this.#subscriptions) void subscription.close()
  }

  partitionFor(key: string): number {
    return this.#log.partitionFor(key)
  }

  append(partition: number, records: readonly NewRecord[]): Promise<Offset> {
    const fault = this.#faults.shift()
    return this.#wire.carry(() => carryOut(() => this.#log.append(partition, records), fault))
  }

  reserveIdBlock(): Promise<number> {
    return this.#wire.carry(() => this.#log.reserveIdBlock())
  }

  endOffsets(): Promise<readonly Offset[]> {
    return this.#wire.carry(() => this.#log.endOffsets())
  }

  read(partition: number, from: Offset, limit: number): Promise<ReadRecords> {
    return this.#wire.carry(() => this.#log.read(partition, from, limit))
  }

  async subscribe(group: string, subscriber: Subscriber): Promise<Subscription> {
    const subscription = await this.#log.subscribe(group, {
      assigned: (partitions) => subscriber.assigned(partitions),
      batch: (batch) => Promise.race([subscriber.batch(batch), this.#wire.end.then(() => false)]),
    })
    this.#subscriptions.push(subscription)
    return subscription
  }

  async close(): Promise<void> {}
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
