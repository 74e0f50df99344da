import type { Logger } from 'pino'
import { SummedUp } from '../lib/operating/summed-up.ts'
import type { Offset } from '../log/event-log.ts'
import type { Checkpoint } from '../read-models/stored-texts.ts'

const countNames = ['superseded', 'duplicate', 'parked', 'skipped'] as const

type Figures = Record<(typeof countNames)[number], number> & {
  readonly partition: number
  readonly from: Offset
  readonly to: Offset
}

/** Logs how many records of each partition were not applied. */
export class NotApplied {
  readonly #logger: Logger
  readonly #partitions = new Map<number, SummedUp<Figures>>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  note(partition: number, before: Checkpoint, after: Checkpoint): void {
    const counts = countsOf((name) => Math.max(0, after.counts[name] - before.counts[name]))
    if (countNames.every((name) => counts[name] === 0)) return
    const ofPartition = this.#partitions.get(partition) ?? new SummedUp(added, (figures) => this.#write(figures))
    this.#partitions.set(partition, ofPartition)
    ofPartition.note({ partition, from: before.next, to: after.next, ...counts })
  }

  /** Logs what is left. */
  close(): void {
    for (const ofPartition of this.#partitions.values()) ofPartition.close()
  }

  #write(figures: Figures): void {
    const level = figures.parked + figures.skipped > 0 ? 'warn' : 'info' // competing events are normal
    this.#logger[level](figures, 'records not applied')
  }
}

function countsOf(count: (name: (typeof countNames)[number]) => number): Pick<Figures, (typeof countNames)[number]> {
  return {
    superseded: count('superseded'),
    duplicate: count('duplicate'),
    parked: count('parked'),
    skipped: count('skipped'),
  }
}

/** A projector may have gone back meanwhile. */
function added(sum: Figures, figures: Figures): Figures {
  const { partition } = sum
  const [from, to] = [Math.min(sum.from, figures.from), Math.max(sum.to, figures.to)]
  return { partition, from, to, ...countsOf((name) => sum[name] + figures[name]) }
}
