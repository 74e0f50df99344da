import type { PetId } from '../domain/pet.ts'
import type { EventLog } from '../event-log/event-log.ts'

const blockSize = 10_000

/**
 * Draws pet ids that no other process draws, from blocks claimed in the log (decision 0005): no clock, no
 * coordination. Block n holds the ids (n - 1) * 10,000 + 1 to n * 10,000. An id is drawn for a partition: it is one
 * that the default partitioner sends there.
 */
export class PetIds {
  readonly #log: Pick<EventLog, 'claimBlock' | 'partitions' | 'partitionFor'>
  readonly #drawable: PetId[][]
  #next = 0
  #end = 0
  #nextBlock: Promise<number> | undefined

  constructor(log: Pick<EventLog, 'claimBlock' | 'partitions' | 'partitionFor'>) {
    this.#log = log
    this.#drawable = Array.from({ length: log.partitions }, () => [])
  }

  /** An id for the partition; undefined when this needs another block: await `refill`, then draw again. */
  draw(partition: number): PetId | undefined {
    const drawable = this.#drawable[partition]
    if (drawable === undefined) throw new RangeError(`partition ${partition} of ${this.#drawable.length}`)
    while (drawable.length === 0 && this.#next < this.#end) this.#sortIntoPartition(this.#next++)
    if (this.#end - this.#next < blockSize / 2) this.#claimAhead()
    return drawable.shift()
  }

  /** Resolves once there are ids to draw from. Throws ServiceError event_log_unavailable. */
  async refill(): Promise<void> {
    const claim = this.#claimAhead()
    const block = await claim
    if (this.#nextBlock !== claim || this.#next < this.#end) return // another caller took this block, or it is not needed yet
    this.#nextBlock = undefined
    this.#next = (block - 1) * blockSize + 1
    this.#end = block * blockSize + 1
  }

  #claimAhead(): Promise<number> {
    if (this.#nextBlock !== undefined) return this.#nextBlock
    const claim = this.#log.claimBlock()
    this.#nextBlock = claim
    claim.catch(() => {
      if (this.#nextBlock === claim) this.#nextBlock = undefined // the next draw or refill claims anew
    })
    return claim
  }

  #sortIntoPartition(id: number): void {
    this.#drawable[this.#log.partitionFor(String(id))]?.push(id as PetId)
  }
}
