import { randomUUID } from 'node:crypto'
import type {
  EventLog,
  LogRecord,
  Offset,
  RecordBatch,
  Subscriber,
  Subscription,
} from '../../src/event-log/event-log.ts'

/** Keeps what a subscription gives. Seeks each partition it is assigned to `from`, unless that is undefined. */
export class RecordingSubscriber implements Subscriber {
  readonly batches: RecordBatch[] = []
  readonly assignments: (readonly number[])[] = []
  /** What `batch` resolves to; may be replaced. */
  answer: (batch: RecordBatch) => Promise<boolean> = async () => true
  readonly #from: Offset | undefined
  #subscription: Subscription | undefined

  constructor(from: Offset | undefined) {
    this.#from = from
  }

  static async on(log: EventLog, options: { group?: string; from?: Offset | undefined } = {}) {
    const from = 'from' in options ? options.from : 0
    const subscriber = new RecordingSubscriber(from)
    const subscription = await log.subscribe(options.group ?? newGroup(), subscriber)
    subscriber.#subscription = subscription
    return Object.assign(subscriber, {
      seek: (partition: number, offset: Offset) => subscription.seek(partition, offset),
      close: () => subscription.close(),
    })
  }

  get held(): readonly number[] {
    return this.assignments.at(-1) ?? []
  }

  assigned(partitions: readonly number[]): void {
    this.assignments.push(partitions)
    if (this.#from === undefined) return
    if (this.#subscription === undefined) throw new Error('assigned before subscribe resolved')
    for (const partition of partitions) this.#subscription.seek(partition, this.#from)
  }

  async batch(batch: RecordBatch): Promise<boolean> {
    this.batches.push(batch)
    return await this.answer(batch)
  }

  of(partition: number): RecordBatch[] {
    return this.batches.filter((batch) => batch.partition === partition)
  }

  records(partition: number): LogRecord[] {
    return this.of(partition).flatMap((batch) => batch.records)
  }

  values(partition: number): string[] {
    return this.records(partition).map(({ value }) => String(value))
  }
}

export function newGroup(): string {
  return `group-${randomUUID()}`
}
