import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Position } from '../event-log/event-log.ts'
import { ServiceError } from '../lib/errors.ts'
import type { AppliedProgress, Wait } from './applied-progress.ts'
import type { ProvenReads } from './proven-reads.ts'
import type { RangeAnswer, RangeQuery } from './read-models.ts'

/** What an answer must have in it: everything up to these records, waited for as long as this. */
export interface AtLeast {
  readonly positions: readonly Position[]
  readonly wait: Wait
}

/** Proven reads that can be held back until the read models have reached given positions. */
export class ConsistentReads {
  readonly #reads: Pick<ProvenReads, 'range'>
  readonly #progress: Pick<AppliedProgress, 'whenApplied'>

  constructor(reads: Pick<ProvenReads, 'range'>, progress: Pick<AppliedProgress, 'whenApplied'>) {
    this.#reads = reads
    this.#progress = progress
  }

  /**
   * As ProvenReads. With `atLeast`, released only by positions that were read together with the documents; throws
   * ServiceError read_model_behind when these are not reached in time.
   */
  async range(query: RangeQuery, atLeast?: AtLeast): Promise<RangeAnswer> {
    if (atLeast === undefined) return this.#reads.range(query)
    const { positions, wait } = atLeast
    const deadline = performance.now() + wait.timeoutMs
    for (;;) {
      const answer = await this.#reads.range(query)
      const missing = positions.find(({ partition, offset }) => nextIn(answer, partition) <= offset)
      if (missing === undefined) return answer
      const timeoutMs = deadline - performance.now()
      if (timeoutMs <= 0 || !(await this.#progress.whenApplied(missing, { ...wait, timeoutMs }))) {
        throw new ServiceError('read_model_behind', 'The read models have not yet reached the position of the token.')
      }
      await nextTurn() // should the store contradict its announcement, everything else goes on meanwhile
    }
  }
}

function nextIn({ moment }: RangeAnswer, partition: number): number {
  return moment.checkpoints.get(partition)?.next ?? 0
}
