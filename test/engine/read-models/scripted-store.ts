import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, vi } from 'vitest'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { type DocumentId, textSets } from '../../../src/engine/read-models/document.ts'
import type {
  ActiveGeneration,
  Checkpoints,
  Look,
  Progress,
  ProgressListener,
} from '../../../src/engine/read-models/ports/generations.ts'
import type { Contents, Inspection, ScannedPage } from '../../../src/engine/read-models/ports/inspection.ts'
import type {
  CountQuery,
  Found,
  HeldIds,
  IdRange,
  PageQuery,
  Proof,
  StoredCounts,
  StoredPage,
  StoredReads,
  StoredStream,
  StreamQuery,
} from '../../../src/engine/read-models/ports/reads.ts'
import { ProvenReadModel } from '../../../src/engine/read-models/proven-read-model.ts'
import { decodeRow, startOfPartition } from '../../../src/engine/read-models/stored-texts.ts'
import { type TrackedGenerations, Tracker } from '../../../src/engine/read-models/tracker.ts'
import { nothingLoaded } from '../../../src/engine/rule/awaiting.ts'
import { eventually } from '../../lib/eventually.ts'

/** The reading side of a store, in the hands of a test: it says what is stored, and when the connection breaks. */
export class ScriptedStore implements StoredReads, TrackedGenerations, Pick<Inspection, 'scan' | 'contents'> {
  generation: ActiveGeneration | undefined = { name: 'first', logId: 'log', continues: undefined }
  readonly next = new Map<number, number>()
  /** The ids of the documents, which all sets hold. */
  ids: number[] = []
  recorded = 0
  /** The ids of the texts of every set, two a page, and how many were put into it. */
  texts: string[] = []
  recordedTexts = 0
  isAway = false
  /** How often what was asked. */
  readonly asked = { looks: 0, reads: 0 }
  #held: Promise<void> | undefined
  readonly #listeners = new Set<ProgressListener>()

  async look(): Promise<Look> {
    this.asked.looks++
    const checkpoints = this.generation && this.#checkpoints()
    const isComplete = this.ids.length === this.recorded
    return await this.#answer({ active: this.generation, checkpoints, isComplete, building: undefined })
  }

  async checkpoints(generation: string): Promise<Checkpoints | undefined> {
    return await this.#answer(generation === this.generation?.name ? this.#checkpoints() : undefined)
  }

  async find(generation: string, { id }: DocumentId): Promise<Found> {
    const document = this.#ids(generation).includes(id) ? { json: `{"id":${id}}`, stream: `${id}` } : undefined
    return await this.#read(generation, { document })
  }

  async scan(generation: string, _set: string, from = '0'): Promise<ScannedPage | undefined> {
    if (generation !== this.generation?.name) return undefined
    const end = Number(from) + 2
    const items = this.texts.slice(Number(from), end).map((id) => [id, `text of ${id}`] as const)
    const next = end < this.texts.length ? String(end) : undefined
    return await this.#answer({ snapshot: { active: generation, checkpoints: this.#checkpoints() }, items, next })
  }

  async contents(generation: string): Promise<Contents | undefined> {
    const snapshot = { active: this.generation?.name, checkpoints: this.#checkpoints() }
    const size = { actual: this.texts.length, recorded: this.recordedTexts }
    const sizes = new Map(textSets.map((set) => [set, size]))
    return await this.#answer(generation === this.generation?.name ? { snapshot, sizes } : undefined)
  }

  async page(generation: string, { after, limit, ids }: PageQuery): Promise<StoredPage> {
    const found = this.#ids(generation).filter((id) => id > after && (ids?.includes(id) ?? true))
    const shown = found.slice(0, limit)
    const documents = shown.map((id) => `{"id":${id}}`).join(',')
    const last = found.length > limit ? shown.at(-1) : undefined
    return await this.#read(generation, { documents, count: shown.length, last })
  }

  async count(generation: string, { indexKeys }: CountQuery): Promise<StoredCounts> {
    return await this.#read(generation, { counts: indexKeys.map(() => this.#ids(generation).length) })
  }

  async load(generation: string, { stream = '' }: StreamQuery): Promise<StoredStream> {
    const isThere = this.#ids(generation).includes(Number(stream))
    const row = isThere ? decodeRow(stream, undefined, '1  ') : undefined
    const { reached: _, ...nothing } = nothingLoaded
    return await this.#read(generation, { ...nothing, row })
  }

  async loadAll(generation: string, queries: readonly StreamQuery[]): Promise<StoredStream[]> {
    const [first] = await Promise.all([this.load(generation, queries[0] ?? {})])
    return queries.map(() => first)
  }

  async heldIds(generation: string, { first, last }: IdRange): Promise<HeldIds> {
    return await this.#read(generation, { holdsAny: this.#ids(generation).some((id) => id >= first && id <= last) })
  }

  /** From now on positions and answers are on their way, as they were when read, until what this returns is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held = promise
    return () => {
      this.#held = undefined
      resolve()
    }
  }

  listen(listener: ProgressListener): () => void {
    this.#listeners.add(listener)
    if (!this.isAway) listener.connected()
    return () => this.#listeners.delete(listener)
  }

  get listeners(): number {
    return this.#listeners.size
  }

  /** A document is applied, as the record before `next`, and nobody hears of it. */
  store(id: number, partition: number, next: number): void {
    this.ids = [...this.ids, id].sort((one, other) => one - other)
    this.recorded++
    this.next.set(partition, next)
  }

  apply(id: number, partition: number, next: number): void {
    this.store(id, partition, next)
    this.announce({ partition, from: next - 1, next, withoutEffect: [] })
  }

  announce(progress?: Progress, generation = this.generation?.name ?? ''): void {
    for (const listener of this.#listeners) listener.progress(generation, progress)
  }

  /** To before the last document of partition 0, without a sign of it. */
  rollBack(): void {
    this.next.set(0, (this.next.get(0) ?? 0) - 1)
    this.ids = this.ids.slice(0, -1)
    this.recorded--
  }

  flush(): void {
    this.generation = undefined
    this.next.clear()
    this.ids = []
    this.recorded = 0
  }

  start(name: string, logId = 'log'): void {
    this.flush()
    this.generation = { name, logId, continues: undefined }
    this.announce()
  }

  /** Another generation takes the place of the active one, with all that is in it. */
  takeOver(name: string): void {
    this.generation = { name, logId: 'log', continues: this.generation?.name }
  }

  disconnect(): void {
    this.isAway = true
    for (const listener of this.#listeners) listener.disconnected()
  }

  connect(): void {
    this.isAway = false
    for (const listener of this.#listeners) listener.connected()
  }

  #ids(generation: string): readonly number[] {
    return generation === this.generation?.name ? this.ids : []
  }

  #checkpoints(): Checkpoints {
    return new Map([...this.next].map(([partition, next]) => [partition, { ...startOfPartition, next }]))
  }

  async #read<T>(generation: string, found: T): Promise<T & { proof: Proof }> {
    this.asked.reads++
    const isThere = generation === this.generation?.name
    const checkpoints = isThere ? this.#checkpoints() : new Map()
    const isComplete = !isThere || this.ids.length === this.recorded
    return await this.#answer({ ...found, proof: { active: this.generation?.name, checkpoints, isComplete } })
  }

  async #answer<T>(answer: T): Promise<T> {
    this.#checkThere()
    await this.#held
    return answer
  }

  #checkThere(): void {
    if (this.isAway) throw new ServiceError('read_model_unavailable', 'away')
  }
}

/** A read model over a store that does as it is told, beside a log with these end offsets. */
export function openProven(ends: number[] = [0, 0], store = new ScriptedStore()) {
  const log = { logId: 'log', endOffsets: vi.fn(async (): Promise<readonly number[]> => ends) }
  const tracker = new Tracker(store)
  const incomplete = { report: vi.fn(), current: undefined }
  const model = new ProvenReadModel({ reads: store, inspection: store, tracker, log, incomplete })
  onTestFinished(() => {
    model.close()
    return tracker.close()
  })
  const until = (status: string) => eventually(() => expect(model.state.status).toBe(status))
  const page = async (limit = 10) => idsIn(await model.page({ ...all, limit }))
  return { store, ends, log, tracker, incomplete, model, until, page }
}

export const all = { collection: 'seats', after: 0, limit: 10 }

export function idsIn({ documents }: { readonly documents: string }): number[] {
  return JSON.parse(`[${documents}]`).map(({ id }: { id: number }) => id)
}

/** Whatever is waiting to be looked at has been. */
export async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await setImmediate()
}

/** Time passes only as the test says. */
export function stopClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
}
