import { setImmediate as nextTurn } from 'node:timers/promises'
import { noReadModels } from '../lib/errors/errors.ts'
import { retry } from '../lib/retry.ts'
import { DamagedError } from '../read-models/damaged.ts'
import { textSets } from '../read-models/document.ts'
import type { Snapshot } from '../read-models/ports/generations.ts'
import type { Contents, Inspection, Item, ScannedPage } from '../read-models/ports/inspection.ts'
import type { ReadModelStore } from '../read-models/ports/store.ts'
import { encodeCheckpoint } from '../read-models/stored-texts.ts'
import { type Difference, Differences } from './differences.ts'
import { MismatchError } from './replay.ts'
import { Scratch, type ScratchOptions, VerifyError } from './scratch.ts'

export interface VerifyOptions extends ScratchOptions {
  readonly store: Pick<ReadModelStore, 'generations' | 'inspection'>
  /**
   * Called repeatedly: first with the number of records replayed and to replay, then with what has been compared and
   * its total.
   */
  readonly progress?: (step: 'replay' | 'compare', done: number, total: number) => void
}

export interface Verification {
  readonly generation: string
  /** The first ones. */
  readonly differences: readonly Difference[]
  /** How many there are. */
  readonly differenceCount: number
  /** How many documents, index entries, rows, keys, parked events and checkpoints were compared. */
  readonly compared: number
}

const chunk = 1000

/**
 * Compares everything in the active generation with the log, while writes go on. The log is replayed into `scratch`,
 * which is moved to exactly the positions of each chunk that is read. Throws VerifyError, MismatchError,
 * Error `noReadModels`, and ServiceError if log or store stay unavailable.
 */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const active = await retry(() => options.store.generations.active(), options)
  if (active === undefined) throw new Error(noReadModels)
  if (active.logId !== options.log.logId) throw new MismatchError('The read models belong to another log.')
  const scratch = await Scratch.start(options)
  return await new Verifier(options, active.name, scratch).run().finally(() => scratch.close())
}

class Verifier {
  readonly #options: VerifyOptions
  readonly #generation: string
  readonly #scratch: Scratch
  readonly #differences = new Differences()
  #compared = 0
  #total = 0

  constructor(options: VerifyOptions, generation: string, scratch: Scratch) {
    this.#options = options
    this.#generation = generation
    this.#scratch = scratch
  }

  async run(): Promise<Verification> {
    await this.#unlessDamaged('generation', () => this.#compareGeneration())
    const { kept: differences, count: differenceCount } = this.#differences
    return { generation: this.#generation, differences, differenceCount, compared: this.#compared }
  }

  /** What is damaged is a difference by itself, and nothing more is compared of it. */
  async #unlessDamaged(what: string, compare: () => Promise<void>): Promise<void> {
    try {
      await compare()
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error
      this.#differences.add({ where: 'damage', id: what, expected: undefined, found: error.damage })
    }
  }

  async #compareGeneration(): Promise<void> {
    const [first, expected] = await this.#contents()
    this.#total = [...first.sizes.values()].reduce((sum, { actual }) => sum + actual, first.snapshot.checkpoints.size)
    const sets = new Set([...expected.sizes.keys(), ...first.sizes.keys(), ...textSets])
    for (const set of sets) await this.#unlessDamaged(set, () => this.#compareAll(set))
    const [found, said] = await this.#contents()
    for (const set of sets) await this.#unlessDamaged(set, () => this.#findMissing(set, found, said))
    this.#compareTexts('checkpoint of partition', checkpointsIn(said), checkpointsIn(found))
    this.#compareTexts('size', sizesIn(said), sizesIn(found))
    this.#progress(found.snapshot.checkpoints.size)
  }

  /** Compares each stored item with the log. */
  async #compareAll(set: string): Promise<void> {
    const foundItems = itemsOf((from) => this.#live((live, name) => live.scan(name, set, from, chunk)))
    for await (const items of foundItems) {
      await this.#compare(set, items)
      this.#progress(items.length)
    }
  }

  /**
   * Looks for each item that should exist according to the log, if there is reason to: a missing item shows up in no
   * page. An item may have been removed meanwhile, and must exist only as long as the log says so.
   */
  async #findMissing(set: string, found: Contents, expected: Contents): Promise<void> {
    // The numbers alone prove nothing: if there is one item too many, another may be missing.
    if (!this.#differences.isAnyIn(set) && expected.sizes.get(set)?.actual === found.sizes.get(set)?.actual) return
    const expectedItems = itemsOf((from) => this.#scratch.read((scratch, name) => scratch.scan(name, set, from, chunk)))
    for await (const items of expectedItems) {
      const ids = items.map(([id]) => id)
      const { texts } = await this.#live((live, name) => live.find(name, set, ids))
      const missing = ids.filter((_, i) => texts[i] === undefined).map((id) => [id, undefined] as const)
      await this.#compare(set, missing)
    }
  }

  /** Compares what was found with the log at the position of the last read. */
  async #compare(set: string, found: readonly (readonly [id: string, text: string | undefined])[]): Promise<void> {
    const ids = found.map(([id]) => id)
    const { texts } = await this.#scratch.read((scratch, name) => scratch.find(name, set, ids))
    for (const [i, [id, text]] of found.entries()) this.#compareText(set, id, texts[i], text)
  }

  #compareTexts(where: string, expected: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>): void {
    for (const id of new Set([...expected.keys(), ...found.keys()])) {
      this.#compareText(where, id, expected.get(id), found.get(id))
    }
  }

  #compareText(where: string, id: string, expected: string | undefined, found: string | undefined): void {
    if (expected !== found) this.#differences.add({ where, id, expected, found })
  }

  /** The contents as found, and as they should be at the same positions. */
  async #contents(): Promise<readonly [found: Contents, expected: Contents]> {
    const found = await this.#live((live, name) => live.contents(name))
    return [found, await this.#scratch.read((scratch, name) => scratch.contents(name))]
  }

  /**
   * Reads from the live read models, as long as they are the verified generation, and moves the scratch read models to
   * the same positions. Throws DamagedError at once, though it is a ServiceError: to ask again gives the same.
   */
  async #live<T extends { readonly snapshot: Snapshot }>(
    read: (live: Inspection, generation: string) => Promise<T | undefined>,
  ): Promise<T> {
    const ask = () => read(this.#options.store.inspection, this.#generation).catch(unlessTransient)
    const found = await retry(ask, this.#options)
    if (found instanceof DamagedError) throw found
    if (found?.snapshot.active !== this.#generation) {
      throw new VerifyError('Another generation became active during the verification.')
    }
    const { progress } = this.#options
    await this.#scratch.upTo(found.snapshot.checkpoints, (done, total) => progress?.('replay', done, total))
    return found
  }

  #progress(compared: number): void {
    this.#compared += compared
    this.#options.progress?.('compare', this.#compared, Math.max(this.#total, this.#compared))
  }
}

/** Page by page. Embedded read models answer at once: without a turn of the event loop nothing else would come to pass. */
async function* itemsOf(read: (from: string | undefined) => Promise<ScannedPage>): AsyncGenerator<readonly Item[]> {
  let from: string | undefined
  do {
    const page = await read(from)
    yield page.items
    await nextTurn()
    from = page.next
  } while (from !== undefined)
}

function unlessTransient(error: unknown): DamagedError {
  if (error instanceof DamagedError) return error
  throw error
}

function checkpointsIn({ snapshot }: Contents): ReadonlyMap<string, string> {
  return new Map([...snapshot.checkpoints].map(([partition, each]) => [String(partition), encodeCheckpoint(each)]))
}

/** Leaves out empty sets: whether they ever had entries depends on how the log was split into batches. */
function sizesIn({ sizes }: Contents): ReadonlyMap<string, string> {
  const filled = [...sizes].filter(([, { actual, recorded }]) => actual !== 0 || recorded !== 0)
  return new Map(filled.map(([name, { actual, recorded }]) => [name, `${actual} of ${recorded}`]))
}
