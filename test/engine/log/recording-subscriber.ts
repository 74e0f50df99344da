import { randomUUID } from 'node:crypto'
import { expect, vi } from 'vitest'
import type {
  EventLog,
  LogRecord,
  Offset,
  RecordBatch,
  Subscriber,
  Subscription,
} from '../../../src/engine/log/event-log.ts'

/** Keeps what a subscription gives. Seeks each partition that it is assigned to `from`, unless that is undefined. */
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

  static async on(log: EventLog, { group = newGroup(), from = 0 } = {}): Promise<RecordingSubscriber> {
    return await new RecordingSubscriber(from).#subscribe(log, group)
  }

  /** One that holds partition 0 and has not sought anything. */
  static async holding(log: EventLog): Promise<RecordingSubscriber> {
    const subscriber = await new RecordingSubscriber(undefined).#subscribe(log, newGroup())
    await vi.waitFor(() => expect(subscriber.held).toContain(0), { timeout: 20_000, interval: 20 })
    return subscriber
  }

  get held(): readonly number[] {
    return this.assignments.at(-1) ?? []
  }

  seek(partition: number, offset: Offset): void {
    if (this.#subscription === undefined) throw new Error('assigned before subscribe resolved')
    this.#subscription.seek(partition, offset)
  }

  async close(): Promise<void> {
    await this.#subscription?.close()
  }

  assigned(partitions: readonly number[]): void {
    this.assignments.push(partitions)
    if (this.#from === undefined) return
    for (const partition of partitions) this.seek(partition, this.#from)
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

  async #subscribe(log: EventLog, group: string): Promise<this> {
    this.#subscription = await log.subscribe(group, this)
    return this
  }
}

export function newGroup(): string {
  return `group-${randomUUID()}`
}
