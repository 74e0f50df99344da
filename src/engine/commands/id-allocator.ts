import type { EventLog } from '../log/event-log.ts'
import { blockSize, type IdBlocks, idsOf, type Reservation } from './id-blocks.ts'

/** Drawing for one partition leaves ids of the others: this many are kept for each. */
export const leftoversMax = 1000

/**
 * Draws ids that no other process draws, from blocks reserved in the log (decision 0005), without a clock or
 * coordination. An id is drawn for a partition: the default partitioner sends it there.
 */
export class IdAllocator {
  readonly #log: Pick<EventLog, 'partitions' | 'partitionFor'>
  readonly #blocks: Pick<IdBlocks, 'reserve'>
  readonly #drawable: number[][]
  #next = 0
  #end = 0
  #nextBlock: Reservation | undefined

  constructor(log: Pick<EventLog, 'partitions' | 'partitionFor'>, blocks: Pick<IdBlocks, 'reserve'>) {
    this.#log = log
    this.#blocks = blocks
    this.#drawable = Array.from({ length: log.partitions }, () => [])
  }

  /** An id for the partition; undefined if this needs another block: await `refill`, then draw again. */
  draw(partition: number): number | undefined {
    const drawable = this.#drawable[partition]
    if (drawable === undefined) throw new RangeError(`partition ${partition} of ${this.#drawable.length}`)
    while (drawable.length === 0 && this.#next < this.#end) this.#sortIntoPartition(this.#next++)
    this.prepare()
    return drawable.shift()
  }

  /** Reserves a block ahead, if less than half of one is left. */
  prepare(): void {
    if (this.#end - this.#next < blockSize / 2) this.#reserveAhead()
  }

  /** Resolves once there are ids to draw from. Throws ServiceError event_log_unavailable. */
  async refill(): Promise<void> {
    const reserved = this.#reserveAhead()
    reserved.need()
    const { first, last } = idsOf(await reserved.block)
    if (this.#nextBlock !== reserved || this.#next < this.#end) return // another caller took this block, or none is needed yet
    this.#nextBlock = undefined
    this.#next = first
    this.#end = last + 1
  }

  /** Another process drew this id, so it may draw others of the block too: no more ids are drawn from it here. */
  abandonBlockOf(id: number): void {
    const block = blockOf(id)
    for (const drawable of this.#drawable) {
      const others = drawable.filter((each) => blockOf(each) !== block)
      drawable.splice(0, drawable.length, ...others)
    }
    if (blockOf(this.#next) === block) this.#next = this.#end
    this.prepare()
  }

  #reserveAhead(): Reservation {
    if (this.#nextBlock !== undefined) return this.#nextBlock
    const reserved = this.#blocks.reserve()
    this.#nextBlock = reserved
    reserved.block.catch(() => {
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
