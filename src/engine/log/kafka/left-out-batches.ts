import type { Warning } from '../../lib/warning.ts'
import type { Offset, UndecodableBatch } from '../event-log.ts'
import type { LogPartOptions } from './log-part-options.ts'

/** The batches that were not read because of what they decode to, since this process began. */
export class LeftOutBatches {
  readonly #options: Pick<LogPartOptions, 'topic' | 'logger'>
  /** The furthest of each partition: batches are read in order, and may be read again. */
  readonly #furthest = new Map<number, Offset>()
  #count = 0
  #last: UndecodableBatch | undefined

  constructor(options: Pick<LogPartOptions, 'topic' | 'logger'>) {
    this.#options = options
  }

  get warnings(): readonly Warning[] {
    if (this.#last === undefined) return []
    const { partition, offset, reason } = this.#last
    const message =
      `${this.#count} batches of topic ${this.#options.topic} were left out; the last one ends at offset ${offset} of ` +
      `partition ${partition}: ${reason}. No batch of this service is that large: find out who writes them.`
    return [{ code: 'batches_left_out', message }]
  }

  report(batch: UndecodableBatch): void {
    if (batch.offset <= (this.#furthest.get(batch.partition) ?? -1)) return
    this.#furthest.set(batch.partition, batch.offset)
    this.#count++
    this.#last = batch
    this.#options.logger.warn(batch, 'Kafka: a batch is left out')
  }
}
