import { randomUUID } from 'node:crypto'
import { OutOfReachError, ServiceError } from '../lib/errors/errors.ts'
import { retry } from '../lib/retry.ts'
import type { Offset } from '../log/event-log.ts'
import type { Checkpoints } from '../read-models/ports/generations.ts'
import type { Inspection } from '../read-models/ports/inspection.ts'
import type { ReadModelStore } from '../read-models/ports/store.ts'
import type { ShardLog } from '../read-models/shards.ts'
import { MismatchError, Replay, type ReplayOptions } from './replay.ts'

export interface ScratchOptions extends Omit<ReplayOptions, 'store' | 'signal'> {
  readonly log: Pick<ShardLog, 'logId' | 'partitionFor' | 'read' | 'endOffsets'>
  /** An empty store for this purpose only. */
  readonly scratch: ReadModelStore
}

/** The read models changed in a way that verification cannot follow. Start it again. */
export class VerifyError extends OutOfReachError {
  override readonly name = 'VerifyError'
}

/** Read models of one's own, moved along the log to exact positions. */
export class Scratch {
  readonly #options: ScratchOptions
  readonly #generation = randomUUID()
  readonly #replay: Replay

  private constructor(options: ScratchOptions) {
    this.#options = options
    this.#replay = new Replay({ ...options, store: options.scratch.projection }, this.#generation)
  }

  static async start(options: ScratchOptions): Promise<Scratch> {
    const scratch = new Scratch(options)
    const generation = { name: scratch.#generation, logId: options.log.logId }
    await options.scratch.generations.start(generation, undefined)
    return scratch
  }

  async read<T>(read: (scratch: Inspection, generation: string) => Promise<T | undefined>): Promise<T> {
    return stillThere(await read(this.#options.scratch.inspection, this.#generation))
  }

  /** Resolves once everything before these positions is applied, and nothing else. Call it once at a time. */
  async upTo(positions: Checkpoints, progress: (done: number, total: number) => void): Promise<void> {
    const goals = new Map([...positions].map(([partition, { next }]) => [partition, next]))
    let isThere = false
    while (!isThere) isThere = await retry(() => this.#advance(goals, progress), this.#options)
  }

  close(): void {
    this.#replay.close()
  }

  /** Resolves to whether the goals were reached before. */
  async #advance(goals: ReadonlyMap<number, Offset>, progress: (done: number, total: number) => void) {
    const reached = stillThere(await this.#options.scratch.generations.checkpoints(this.#generation))
    const at = (partition: number) => reached.get(partition)?.next ?? 0
    if (goals.entries().some(([partition, next]) => at(partition) > next)) {
      throw new VerifyError('The positions of the read models went back during the verification.')
    }
    const [done, total] = [sum(goals.keys().map(at)), sum(goals.values())]
    if (done === total) return true
    progress(done, total)
    if ((await this.#replay.advance(reached, goals)) === reached) throw await this.#whyNothing(goals)
    return false
  }

  async #whyNothing(goals: ReadonlyMap<number, Offset>): Promise<Error> {
    const endOffsets = await this.#options.log.endOffsets()
    for (const [partition, next] of goals) {
      const end = endOffsets[partition] ?? 0
      if (next <= end) continue
      return new MismatchError(`Partition ${partition} of the log ends at ${end}, but the read models are at ${next}.`)
    }
    return new ServiceError('event_log_unavailable', 'The log does not give what the read models have of it.')
  }
}

function stillThere<T>(found: T | undefined): T {
  if (found === undefined) throw new VerifyError('The scratch read models are gone.')
  return found
}

function sum(numbers: Iterable<number>): number {
  return Iterator.from(numbers).reduce((total, each) => total + each, 0)
}
