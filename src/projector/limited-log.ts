import type { Offset, RecordBatch, Subscriber, Subscription } from '../event-log/event-log.ts'
import type { ShardLog } from '../read-models/shards.ts'

/** An event log that is read no further than told: whoever subscribes can be stopped at exact positions. */
export class LimitedLog implements ShardLog {
  readonly epoch: string
  readonly #log: ShardLog
  readonly #limits: Offset[] = []
  #raised = Promise.withResolvers<void>()
  #closed = false

  constructor(log: ShardLog) {
    this.#log = log
    this.epoch = log.epoch
  }

  /** Limits that are raised stay so. */
  raise(limits: ReadonlyMap<number, Offset>): void {
    for (const [partition, limit] of limits) this.#limits[partition] = Math.max(limit, this.#limits[partition] ?? 0)
    this.#wake()
  }

  ends(): Promise<readonly Offset[]> {
    return this.#log.ends()
  }

  async subscribe(group: string, subscriber: Subscriber): Promise<Subscription> {
    const subscription = await this.#log.subscribe(group, {
      assigned: (partitions) => subscriber.assigned(partitions),
      batch: (batch) => this.#deliver(batch, subscriber),
    })
    const close = async () => {
      this.#closed = true
      this.#wake()
      await subscription.close()
    }
    return { seek: (partition, offset) => subscription.seek(partition, offset), close }
  }

  async #deliver(batch: RecordBatch, subscriber: Subscriber): Promise<boolean> {
    let rest = batch
    for (;;) {
      const limit = this.#limits[batch.partition] ?? 0
      if (rest.next <= limit) return await subscriber.batch(rest)
      if (rest.from < limit) {
        const records = rest.records.filter(({ offset }) => offset < limit)
        if (!(await subscriber.batch({ ...rest, records, next: limit }))) return false
        rest = { ...rest, from: limit, records: rest.records.filter(({ offset }) => offset >= limit) }
      }
      if (this.#closed) return false
      if ((this.#limits[batch.partition] ?? 0) <= limit) await this.#raised.promise
    }
  }

  #wake(): void {
    this.#raised.resolve()
    this.#raised = Promise.withResolvers()
  }
}
