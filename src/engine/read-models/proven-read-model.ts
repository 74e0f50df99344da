import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../lib/errors.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Position } from '../log/event-log.ts'
import { AppliedPositions } from './applied-positions.ts'
import type { DocumentId } from './document.ts'
import type { IncompleteGenerations } from './incomplete.ts'
import { KnownGeneration, type ProvingLog, reach, type Seen } from './known-generation.ts'
import type { Applied, AtLeast, FoundDocument, FoundStream, Page, ReadModel, Wait } from './read-model.ts'
import type { Look, PageQuery, Proof, StoredReads, StreamQuery } from './store.ts'
import type { Tracker } from './tracker.ts'

export interface ProvenReadModelOptions {
  readonly reads: StoredReads
  readonly tracker: Tracker
  readonly log: ProvingLog
  /** Told of the generation whenever an answer is refused because a set is incomplete. */
  readonly incomplete?: Pick<IncompleteGenerations, 'report' | 'current'>
}

/** 'incomplete': a set does not have its recorded size. */
export type ReadModelState = {
  readonly status: 'up' | 'incomplete' | 'rebuilding' | 'down'
  readonly generation?: string
}

const readLimitMs = 1500
/** How much longer a read, an expired wait or a refusal may take for a last look at the store or the log. */
const lastLookMs = 300

type Proven = { readonly proof: Proof }
type Ask<T> = (generation: string) => Promise<T>

/**
 * Reads that never omit anything (decision 0007). Once its generation is proved, each answer comes with its own proof:
 * the generation is active, no position is below any that this process had seen when it asked, and every set is
 * complete. With `atLeast` an answer is released only by positions that were read together with it (0013).
 */
export class ProvenReadModel implements ReadModel {
  readonly #options: ProvenReadModelOptions
  readonly #endObserving: () => void
  readonly #positions: AppliedPositions
  #known: KnownGeneration | undefined
  #seenBeforeLook: Seen = []

  constructor(options: ProvenReadModelOptions) {
    const { tracker } = options
    this.#options = options
    this.#positions = new AppliedPositions(() => withTimeout(lastLookMs, tracker.look()).catch(() => {}))
    this.#endObserving = tracker.observe({
      looking: () => {
        this.#seenBeforeLook = this.#known?.seen ?? []
      },
      looked: (look) => {
        this.#positions.looked(look)
        this.#looked(look)
      },
      progress: (generation, progress) => {
        this.#positions.heard(generation, progress)
        if (progress === undefined || generation !== this.#known?.name) return
        this.#known.seeOne(progress.partition, progress.next)
        if (this.#known.isDue) tracker.lookSoon()
      },
      connected: () => {
        // Earlier progress may have been missed, and earlier data may be lost.
        this.#positions.forget()
        this.#known?.doubt()
      },
      disconnected: () => this.#positions.giveUp(),
    })
    tracker.lookSoon()
  }

  get state(): ReadModelState {
    const { tracker, incomplete } = this.#options
    const known = this.#known
    const generation = known && { generation: known.name }
    if (!tracker.isConnected) return { status: 'down', ...generation }
    if (!known?.isProved) return { status: 'rebuilding', ...generation }
    return { status: known.name === incomplete?.current ? 'incomplete' : 'up', ...generation }
  }

  /** The number of current waits. */
  get waiting(): number {
    return this.#positions.waiting
  }

  async find(document: DocumentId, atLeast?: AtLeast): Promise<FoundDocument> {
    const found = await this.#read((generation) => this.#options.reads.find(generation, document), atLeast)
    return { document: found.document, reached: [found.proof.checkpoints] }
  }

  async page(query: PageQuery, atLeast?: AtLeast): Promise<Page> {
    const page = await this.#read((generation) => this.#options.reads.page(generation, query), atLeast)
    return { documents: page.documents, count: page.count, last: page.last, reached: [page.proof.checkpoints] }
  }

  async load(query: StreamQuery, atLeast?: AtLeast): Promise<FoundStream> {
    const { proof, ...stream } = await this.#read((generation) => this.#options.reads.load(generation, query), atLeast)
    return { ...stream, reached: [proof.checkpoints] }
  }

  whenApplied(position: Position, wait: Wait): Promise<Applied> {
    return this.#options.tracker.isConnected ? this.#positions.whenApplied(position, wait) : Promise.resolve('late')
  }

  generationOf(_partition: number): string | undefined {
    return this.#known?.name
  }

  close(): void {
    this.#endObserving()
    this.#positions.giveUp()
  }

  #looked({ active, checkpoints }: Look): void {
    const before = this.#known
    if (active?.logId !== this.#options.log.logId) this.#known = undefined
    else if (before?.name === active.name) before.looked(checkpoints, this.#seenBeforeLook)
    else {
      const isContinued = before?.isProved && before.name === active.continues
      const known = isContinued ? before.followedBy(active.name) : new KnownGeneration(active.name, this.#options.log)
      this.#known = known
      known.looked(checkpoints, known.seen)
    }
  }

  #read<T extends Proven>(ask: Ask<T>, atLeast: AtLeast | undefined): Promise<T> {
    return atLeast === undefined ? this.#prove(ask) : this.#reach(ask, atLeast)
  }

  async #reach<T extends Proven>(ask: Ask<T>, { positions, wait }: AtLeast): Promise<T> {
    const deadline = performance.now() + wait.timeoutMs
    let beyond: Promise<boolean> | undefined
    let isBeyond = false
    const isAbandoned = () => isBeyond || wait.isAbandoned?.() === true
    for (;;) {
      const answer = await this.#prove(ask)
      const { checkpoints } = answer.proof
      const missing = positions.filter(({ partition, offset }) => (checkpoints.get(partition)?.next ?? 0) <= offset)
      const [first] = missing
      if (first === undefined) return answer
      beyond ??= this.#isBeyondEnd(missing).then((is) => {
        isBeyond = is
        return is
      })
      const timeoutMs = deadline - performance.now()
      const applied = await this.whenApplied(first, { timeoutMs, isAbandoned })
      if (applied === 'late') throw failure((await beyond) ? 'invalid_consistency_token' : 'read_model_behind')
      await nextTurn() // if the store contradicts its announcement, other work continues meanwhile
    }
  }

  /** False if the log does not answer: waiting is then the only option. */
  async #isBeyondEnd(positions: readonly Position[]): Promise<boolean> {
    try {
      const ends = await withTimeout(lastLookMs, this.#options.log.endOffsets())
      return positions.some(({ partition, offset }) => offset >= (ends[partition] ?? 0))
    } catch {
      return false
    }
  }

  /** The store answers or fails within a second, so only the steps after that need a limit. */
  async #prove<T extends Proven>(ask: Ask<T>): Promise<T> {
    const startedAt = performance.now()
    const answer = await this.#askProved(ask).catch((error) => {
      if (!this.#options.tracker.isConnected || !isUnanswered(error)) throw error
    })
    if (answer !== undefined) return answer
    const leftMs = readLimitMs - (performance.now() - startedAt)
    return await withTimeout(leftMs, this.#askAgain(ask), () => failure('read_model_unavailable'))
  }

  /**
   * Another generation may have become active, or the store or this process stood still for a moment: one more look,
   * which must not delay the answer for long.
   */
  async #askAgain<T extends Proven>(ask: Ask<T>): Promise<T> {
    const looking = this.#options.tracker.look().then(() => this.#known?.asking)
    await withTimeout(lastLookMs, looking).catch(() => {}) // the next request then reports the problem
    const answer = await this.#askProved(ask)
    if (answer === undefined) throw failure('read_model_rebuilding')
    return answer
  }

  /** Undefined if the answer is not proved, though an answer of another generation may be. */
  async #askProved<T extends Proven>(ask: Ask<T>): Promise<T | undefined> {
    if (!this.#options.tracker.isConnected) throw failure('read_model_unavailable')
    const known = this.#known
    if (!known?.isProved) throw failure('read_model_rebuilding')
    const { seen } = known
    const answer = await ask(known.name)
    const { active, checkpoints, isComplete } = answer.proof
    if (active === known.name) {
      if (!isComplete) {
        this.#options.incomplete?.report(known.name)
        throw failure('read_model_rebuilding')
      }
      if (!reach(checkpoints, seen)) known.doubt()
      else if (known.isProved) {
        known.see(checkpoints)
        return answer
      }
    } else if (active === undefined) known.doubt()
    return undefined
  }
}

const failures = {
  read_model_rebuilding: 'The read models are not known to be complete at present.',
  read_model_unavailable: 'The read models could not be read.',
  read_model_behind: 'The read models have not yet reached the position of the token.',
  invalid_consistency_token: 'header: Consistency-Token is beyond the end of the log',
}

function isUnanswered(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'read_model_unavailable'
}

function failure(code: keyof typeof failures): ServiceError {
  return new ServiceError(code, failures[code])
}
