import type { EventLog } from '../log/event-log.ts'

const blockSize = 10_000
/** Drawing for one partition leaves ids of the others: this many are kept for each. */
export const leftoversMax = 1000

/**
 * Draws ids that no other process draws, from blocks reserved in the log (decision 0005), without a clock or
 * coordination. Block n holds the ids (n - 1) * 10,000 + 1 to n * 10,000. An id is drawn for a partition: the default
 * partitioner sends it there.
 */
export class IdAllocator {
  readonly #log: Pick<EventLog, 'reserveIdBlock' | 'partitions' | 'partitionFor'>
  readonly #drawable: number[][]
  #next = 0
  #end = 0
  #nextBlock: Promise<number> | undefined

  constructor(log: Pick<EventLog, 'reserveIdBlock' | 'partitions' | 'partitionFor'>) {
    this.#log = log
    this.#drawable = Array.from({ length: log.partitions }, () => [])
  }

  /** An id for the partition; undefined if this needs another block: await `refill`, then draw again. */
  draw(partition: number): number | undefined {
    const drawable = this.#drawable[partition]
    if (drawable === undefined) throw new RangeError(`partition ${partition} of ${this.#drawable.length}`)
    while (drawable.length === 0 && this.#next < this.#end) this.#sortIntoPartition(this.#next++)
    if (this.#end - this.#next < blockSize / 2) this.#reserveAhead()
    return drawable.shift()
  }

  /** Resolves once there are ids to draw from. Throws ServiceError event_log_unavailable. */
  async refill(): Promise<void> {
    const reserved = this.#reserveAhead()
    const block = await reserved
    if (this.#nextBlock !== reserved || this.#next < this.#end) return // another caller took this block, or none is needed yet
    this.#nextBlock = undefined
    this.#next = (block - 1) * blockSize + 1
    this.#end = block * blockSize + 1
  }

  /** Another process drew this id, so it may draw others of the block too: no more ids are drawn from it here. */
  abandonBlockOf(id: number): void {
    const block = blockOf(id)
    for (const drawable of this.#drawable) {
      const others = drawable.filter((each) => blockOf(each) !== block)
      drawable.splice(0, drawable.length, ...others)
    }
    if (blockOf(this.#next) === block) this.#next = this.#end
  }

  #reserveAhead(): Promise<number> {
    if (this.#nextBlock !== undefined) return this.#nextBlock
    const reserved = this.#log.reserveIdBlock()
    this.#nextBlock = reserved
    reserved.catch(() => {
      if (this.#nextBlock === reserved) this.#nextBlock = undefined // the next draw or refill reserves anew
    })
    return reserved
  }

  #sortIntoPartition(id: number): void {
    const drawable = this.#drawable[this.#log.partitionFor(String(id))]
    if (drawable !== undefined && drawable.length < leftoversMax) drawable.push(id)
  }
}

function blockOf(id: number): number {
  return Math.ceil(id / blockSize)
}
