import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../lib/errors/errors.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { EventLog, Position } from '../log/event-log.ts'
import { AppliedPositions } from './applied-positions.ts'
import { DamagedError } from './damaged.ts'
import type { DocumentId, TextSet } from './document.ts'
import type { IncompleteGenerations } from './incomplete.ts'
import { KnownGeneration, reach, type Seen } from './known-generation.ts'
import type { Look, Progress } from './ports/generations.ts'
import type { Inspection, Item } from './ports/inspection.ts'
import type { CountQuery, IdRange, PageQuery, Proof, StoredReads, StoredStream, StreamQuery } from './ports/reads.ts'
import type {
  Applied,
  AtLeast,
  Counts,
  FoundDocument,
  FoundStream,
  LocatedStreamQuery,
  Page,
  ReadModel,
  TextPage,
  Wait,
} from './read-model.ts'
import { ToldEnds } from './told-ends.ts'
import type { Tracker } from './tracker.ts'

export interface ProvenReadModelOptions {
  readonly reads: StoredReads
  readonly inspection: Pick<Inspection, 'scan' | 'contents'>
  readonly tracker: Tracker
  readonly log: Pick<EventLog, 'logId' | 'endOffsets'>
  /** Told of the generation whenever an answer is refused because a set is incomplete or something is damaged. */
  readonly incomplete?: Pick<IncompleteGenerations, 'report' | 'current'>
}

/** 'incomplete': a set does not have its recorded size, or something is damaged. 'down': also while looks fail. */
export type ReadModelState = {
  readonly status: 'up' | 'incomplete' | 'rebuilding' | 'down'
  readonly generation?: string
}

const readLimitMs = 1500
/** How much longer a read, an expired wait or a refusal may take for a last look at the store or the log. */
const lastLookMs = 300
const textsAtOnce = 1000

/** Where a walk through a set of texts is. */
interface WalkPlace {
  readonly generation: string
  /** Undefined at the end. */
  readonly next: string | undefined
}

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
  readonly #ends: ToldEnds
  readonly #positions: AppliedPositions
  #known: KnownGeneration | undefined
  #seenBeforeLook: Seen = []

  constructor(options: ProvenReadModelOptions) {
    const { tracker } = options
    this.#options = options
    this.#ends = new ToldEnds(options.log)
    this.#positions = new AppliedPositions({
      ends: this.#ends,
      lookAgain: () => withTimeout(lastLookMs, tracker.look()).catch(() => {}),
      lookAtHint: () => tracker.lookAtHint(),
    })
    this.#endObserving = tracker.observe({
      looking: () => {
        this.#positions.looking()
        this.#seenBeforeLook = this.#known?.seen ?? []
      },
      looked: (look) => {
        this.#positions.looked(look)
        this.#looked(look)
      },
      progress: (generation, progress) => {
        if (progress !== undefined) this.#heard(generation, progress)
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
    if (!tracker.isConnected || tracker.failure !== undefined) return { status: 'down', ...generation }
    if (known !== undefined && known.name === incomplete?.current) return { status: 'incomplete', ...generation }
    return { status: known?.isProved ? 'up' : 'rebuilding', ...generation }
  }

  /** The number of current waits. */
  get waiting(): number {
    return this.#positions.waiting
  }

  async find(document: DocumentId, atLeast?: AtLeast, owner?: string): Promise<FoundDocument> {
    const found = await this.#read((generation) => this.#options.reads.find(generation, document, owner), atLeast)
    return { document: found.document, reached: [found.proof.checkpoints] }
  }

  async page(query: PageQuery, atLeast?: AtLeast, owner?: string): Promise<Page> {
    const page = await this.#read((generation) => this.#options.reads.page(generation, query, owner), atLeast)
    return { documents: page.documents, count: page.count, last: page.last, reached: [page.proof.checkpoints] }
  }

  async count(query: CountQuery, atLeast?: AtLeast, owner?: string): Promise<Counts> {
    const { counts, proof } = await this.#read(
      (generation) => this.#options.reads.count(generation, query, owner),
      atLeast,
    )
    return { counts, reached: [proof.checkpoints] }
  }

  async load(query: StreamQuery, atLeast?: AtLeast, owner?: string): Promise<FoundStream> {
    const ask: Ask<StoredStream> = (generation) => this.#options.reads.load(generation, query, owner)
    const { proof, ...stream } = await this.#read(ask, atLeast)
    return { ...stream, reached: [proof.checkpoints] }
  }

  async loadAll(queries: readonly LocatedStreamQuery[], atLeast?: AtLeast): Promise<readonly FoundStream[]> {
    const ask: Ask<Proven & { readonly streams: readonly StoredStream[] }> = async (generation) => {
      const streams = await this.#options.reads.loadAll(generation, queries)
      const isComplete = streams.every(({ proof }) => proof.isComplete)
      return { streams, proof: { active: undefined, checkpoints: new Map(), ...streams[0]?.proof, isComplete } }
    }
    const { proof, streams } = await this.#read(ask, atLeast)
    return streams.map(({ proof: _, ...stream }) => ({ ...stream, reached: [proof.checkpoints] }))
  }

  async *texts(set: TextSet, atLeast?: AtLeast): AsyncGenerator<TextPage, void> {
    let place: WalkPlace | undefined
    do {
      const page: Proven & WalkPlace & { readonly items: readonly Item[] } = await this.#read(
        (generation) => this.#scan(generation, set, place),
        atLeast,
      )
      place = page
      yield { items: page.items, reached: [page.proof.checkpoints] }
    } while (place.next !== undefined)
  }

  async holdsAny(range: IdRange, atLeast?: AtLeast): Promise<boolean> {
    const held = await this.#read((generation) => this.#options.reads.heldIds(generation, range), atLeast)
    return held.holdsAny
  }

  whenApplied(position: Position, wait: Wait): Promise<Applied> {
    if (!this.#options.tracker.isConnected) return Promise.resolve('late')
    if (wait.isRecorded) this.#ends.has(position)
    return this.#positions.whenApplied(position, wait)
  }

  generationOf(_partition: number): string | undefined {
    return this.#known?.name
  }

  reportDamage(_partition: number, { damage }: DamagedError): void {
    if (this.#known !== undefined) this.#options.incomplete?.report(this.#known.name, damage)
  }

  close(): void {
    this.#endObserving()
    this.#positions.giveUp()
  }

  /** What is announced is a hint: it counts up to what the log told this process, and is a reason to look. */
  #heard(generation: string, progress: Progress): void {
    this.#positions.heard(generation, progress)
    if (generation !== this.#known?.name) return
    const { partition, next } = progress
    this.#known.seeOne(partition, Math.min(next, this.#ends.of(partition)))
    if (this.#known.isDue) this.#options.tracker.lookAtHint()
  }

  #looked({ active, checkpoints }: Look): void {
    const before = this.#known
    if (active?.logId !== this.#options.log.logId) this.#known = undefined
    else if (before?.name === active.name) before.looked(checkpoints, this.#seenBeforeLook)
    else {
      const isContinued = before?.isProved && before.name === active.continues
      const known = isContinued ? before.followedBy(active.name) : new KnownGeneration(active.name, this.#ends)
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
      const ends = await withTimeout(lastLookMs, this.#ends.ask())
      return positions.some(({ partition, offset }) => offset >= (ends[partition] ?? 0))
    } catch {
      return false
    }
  }

  /** Its sizes are asked for behind the page: a set that is whole then was whole before. */
  async #scan(generation: string, set: TextSet, place: WalkPlace | undefined) {
    if (place !== undefined && place.generation !== generation) throw failure('read_model_rebuilding')
    const { inspection } = this.#options
    const page = await inspection.scan(generation, set, place?.next, textsAtOnce)
    const contents = await inspection.contents(generation)
    if (page === undefined || contents === undefined) throw failure('read_model_rebuilding')
    const { sizes } = contents
    const isComplete = sizes.size > 0 && sizes.get(set)?.actual === sizes.get(set)?.recorded
    return { generation, items: page.items, next: page.next, proof: { ...page.snapshot, isComplete } }
  }

  /** The store answers or fails within a second, so only the steps after that need a limit. */
  async #prove<T extends Proven>(ask: Ask<T>): Promise<T> {
    const startedAt = performance.now()
    try {
      const answer = await this.#askProved(ask)
      if (answer !== undefined) return answer
    } catch (error) {
      if (!this.#options.tracker.isConnected || !isUnanswered(error)) throw error
    }
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
    let answer: T
    try {
      answer = await ask(known.name)
    } catch (error) {
      if (error instanceof DamagedError) this.#refuse(known.name, error.damage)
      throw error
    }
    const { active, checkpoints, isComplete } = answer.proof
    if (active === known.name) {
      if (!isComplete) this.#refuse(known.name)
      if (!reach(checkpoints, seen)) known.doubt()
      else if (known.isProved) {
        known.see(checkpoints)
        return answer
      }
    } else if (active === undefined) known.doubt()
    return undefined
  }

  #refuse(generation: string, damage?: string): never {
    this.#options.incomplete?.report(generation, damage)
    throw failure('read_model_rebuilding')
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
