import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Offset } from '../event-log/event-log.ts'
import type { Moment, ReadModels } from '../read-models/read-models.ts'
import type { ShardLog } from '../read-models/shards.ts'
import type { LimitedLog } from './limited-log.ts'
import { patiently } from './patience.ts'

export interface ReplayOptions {
  readonly log: ShardLog
  /** An empty store of its own. */
  readonly scratch: ReadModels
  readonly logger: Logger
  /** Called again and again: records replayed of those to replay, then what was compared of all there is. */
  readonly progress?: (step: 'replay' | 'compare', done: number, total: number) => void
}

/** The read models changed in a way that verifying cannot follow: to be begun again. */
export class VerifyError extends Error {
  override readonly name = 'VerifyError'
}

/** The log or the read models are not what either was made for: verifying again finds the same. */
export class MismatchError extends Error {
  override readonly name = 'MismatchError'
}

const lookMs = 20
const askMs = 1000

/** The scratch store of a verification, which a projector fills from the limited log. */
export class Replay {
  readonly #options: ReplayOptions
  readonly #limited: LimitedLog

  constructor(options: ReplayOptions, limited: LimitedLog) {
    this.#options = options
    this.#limited = limited
  }

  /** Replays the log into the scratch store up to the positions of a moment. */
  async upTo({ checkpoints }: Moment): Promise<void> {
    const { scratch, progress } = this.#options
    const targets = new Map([...checkpoints].map(([partition, { next }]) => [partition, next]))
    const total = [...targets.values()].reduce((sum, next) => sum + next, 0)
    this.#limited.raise(targets)
    let asked = Number.NEGATIVE_INFINITY
    for (;;) {
      const reached = (await scratch.checkpoints(await this.generation())) ?? new Map()
      const positions = [...targets].map(([partition, next]) => [reached.get(partition)?.next ?? 0, next] as const)
      if (positions.some(([at, next]) => at > next)) {
        throw new VerifyError('The positions of the read models went back while they were verified.')
      }
      if (positions.every(([at, next]) => at === next)) return
      if (performance.now() - asked > askMs) {
        await this.#expectInLog(targets)
        asked = performance.now()
      }
      progress?.(
        'replay',
        positions.reduce((sum, [at]) => sum + at, 0),
        total,
      )
      await delay(lookMs)
    }
  }

  /** What is not in the log would be waited for without end, and so would a log that is away. */
  async #expectInLog(targets: ReadonlyMap<number, Offset>): Promise<void> {
    const ends = await patiently(() => this.#options.log.ends(), this.#options)
    for (const [partition, next] of targets) {
      const end = ends[partition] ?? 0
      if (next <= end) continue
      throw new MismatchError(`Partition ${partition} of the log ends at ${end}, but the read models are at ${next}.`)
    }
  }

  async generation(): Promise<string> {
    for (;;) {
      const active = await this.#options.scratch.active()
      if (active !== undefined) return active.name
      await delay(lookMs) // the projector starts it
    }
  }
}
