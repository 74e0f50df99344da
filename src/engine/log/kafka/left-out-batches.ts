import type { Warning } from '../../lib/operating/warning.ts'
import type { UndecodableBatch } from '../event-log.ts'
import type { LogPartOptions } from './log-part-options.ts'

const placesMax = 1000

/** The batches that were not read because of what they decode to, since this process began. */
export class LeftOutBatches {
  readonly #options: Pick<LogPartOptions, 'topic' | 'logger'>
  /** Where the last ones were: batches may be read again, also of a log that has lost its end and gone on. */
  readonly #places = new Set<string>()
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
    const place = `${batch.partition}/${batch.offset}`
    if (this.#places.has(place)) return
    const [oldest = ''] = this.#places
    if (this.#places.size === placesMax) this.#places.delete(oldest)
    this.#places.add(place)
    this.#count++
    this.#last = batch
    this.#options.logger.warn(batch, 'Kafka: a batch is left out')
  }
}
