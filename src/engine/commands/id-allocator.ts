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
  /** Ids by what stands before them in the record key, and by partition. */
  readonly #drawable = new Map<string, number[][]>()
  #next = 0
  #end = 0
  #nextBlock: Reservation | undefined

  constructor(log: Pick<EventLog, 'partitions' | 'partitionFor'>, blocks: Pick<IdBlocks, 'reserve'>) {
    this.#log = log
    this.#blocks = blocks
  }

  /**
   * An id that lies in the partition with `prefix` before it; undefined if this needs another block: await `refill`, then
   * draw again.
   */
  draw(partition: number, prefix = ''): number | undefined {
    const all = this.#drawableWith(prefix)
    const drawable = all[partition]
    if (drawable === undefined) throw new RangeError(`partition ${partition} of ${all.length}`)
    while (drawable.length === 0 && this.#next < this.#end) {
      const id = this.#next++
      const others = all[this.#log.partitionFor(`${prefix}${id}`)]
      if (others !== undefined && others.length < leftoversMax) others.push(id)
    }
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
    for (const drawable of [...this.#drawable.values()].flat()) {
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

  #drawableWith(prefix: string): number[][] {
    const drawable = this.#drawable.get(prefix) ?? Array.from({ length: this.#log.partitions }, (): number[] => [])
    this.#drawable.set(prefix, drawable)
    return drawable
  }
}

function blockOf(id: number): number {
  return Math.ceil(id / blockSize)
}
