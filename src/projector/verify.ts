import { NoReadModelsError } from '../lib/errors.ts'
import { retry } from '../lib/retry.ts'
import { otherSets } from '../read-models/document.ts'
import type { Contents, Entries, Inspection, Snapshot } from '../read-models/inspection.ts'
import type { ReadModelStore } from '../read-models/store.ts'
import {
  compareContents,
  compareTexts,
  type Difference,
  keySet,
  parkedSet,
  rowSet,
  type UnorderedSet,
} from './compare.ts'
import { MismatchError, Replay, type ReplayOptions, VerifyError } from './replay.ts'

export interface VerifyOptions<State, Event> extends ReplayOptions<State, Event> {
  readonly store: Pick<ReadModelStore, 'generations' | 'inspection'>
}

export interface Verification {
  readonly generation: string
  readonly differences: readonly Difference[]
  /** How many documents, index entries, rows, keys, parked events and checkpoints were compared. */
  readonly compared: number
}

const chunk = 1000

/**
 * Compares everything in the active generation with what the log says, while writes go on: the log is replayed into
 * `scratch`, which is brought to exactly the positions of each chunk that is read. Throws VerifyError, MismatchError,
 * NoReadModelsError, and ServiceError when log or store stay away.
 */
export async function verify<State, Event>(options: VerifyOptions<State, Event>): Promise<Verification> {
  const active = await retry(() => options.store.generations.active(), options)
  if (active === undefined) throw new NoReadModelsError()
  if (active.logId !== options.log.logId) throw new MismatchError('The read models are made from another log.')
  const replay = await Replay.start(options)
  try {
    return await new Verifier(options, active.name, replay).run()
  } finally {
    await replay.close()
  }
}

class Verifier<State, Event> {
  readonly #options: VerifyOptions<State, Event>
  readonly #generation: string
  readonly #replay: Replay<State, Event>
  /** Each once, by where and id: what is read in pages without order may come twice. */
  readonly #differences = new Map<string, Difference>()
  #compared = 0
  #total = 0

  constructor(options: VerifyOptions<State, Event>, generation: string, replay: Replay<State, Event>) {
    this.#options = options
    this.#generation = generation
    this.#replay = replay
  }

  async run(): Promise<Verification> {
    const [first, expected] = await this.#contents()
    this.#total = [...first.sizes.values()].reduce((sum, { actual }) => sum + actual, first.snapshot.checkpoints.size)
    const others: readonly string[] = otherSets
    const names = new Set([...expected.sizes.keys(), ...first.sizes.keys()].filter((name) => !others.includes(name)))
    for (const name of names) await this.#compareEntries(name)
    await this.#compareItems(rowSet)
    await this.#compareItems(keySet)
    await this.#compareItems(parkedSet)
    const last = await this.#contents()
    await this.#findMissing(rowSet, last)
    await this.#findMissing(keySet, last)
    await this.#findMissing(parkedSet, last)
    const [found, said] = last
    this.#add(compareContents(said, found), found.snapshot.checkpoints.size)
    const differences = [...this.#differences.values()]
    return { generation: this.#generation, differences, compared: this.#compared }
  }

  async #compareEntries(set: string): Promise<void> {
    for (let next: number | undefined = 1; next !== undefined; ) {
      const from: number = next
      const { entries }: Entries = await this.#live((live) => live.entries(this.#generation, set, from, chunk))
      const last: number | undefined = entries.length < chunk ? undefined : entries.at(-1)?.id
      const expected = await this.#expectedEntries(set, from, last ?? Number.MAX_SAFE_INTEGER)
      this.#add(compareTexts(set, textsOf(expected), textsOf(entries)), entries.length)
      next = last === undefined ? undefined : last + 1
    }
  }

  /** The entries that the log says there are, both ends included. */
  async #expectedEntries(set: string, from: number, to: number): Promise<Entries['entries']> {
    const expected: Entries['entries'][number][] = []
    for (let next = from; next <= to; ) {
      const { entries } = await this.#scratch((scratch, generation) => scratch.entries(generation, set, next, chunk))
      expected.push(...entries.filter(({ id }) => id <= to))
      const last = entries.at(-1)
      if (last === undefined || entries.length < chunk) break
      next = last.id + 1
    }
    return expected
  }

  async #compareItems<Item>(set: UnorderedSet<Item>): Promise<void> {
    const read = (from: string) => this.#live((live) => set.page(live, this.#generation, from, chunk))
    for await (const { items } of pages(read)) {
      for (const item of items) await this.#compareItem(set, item, item)
      this.#add([], items.length)
    }
  }

  /**
   * Looks for each item that the log says there is, if there is a reason to: what is not there shows in no page. An item
   * may have gone meanwhile, and has to be there only as long as the log says so.
   */
  async #findMissing<Item>(set: UnorderedSet<Item>, [found, expected]: readonly [Contents, Contents]): Promise<void> {
    // The numbers alone do not tell: where one is too many, another may be missing.
    const differs = [...this.#differences.values()].some(({ where }) => where === set.name)
    if (!differs && expected.sizes.get(set.name)?.actual === found.sizes.get(set.name)?.actual) return
    const read = (from: string) => this.#scratch((scratch, generation) => set.page(scratch, generation, from, chunk))
    for await (const { items } of pages(read)) {
      for (const item of items) {
        const there = await this.#live((live) => set.find(live, this.#generation, item))
        if (there.item === undefined) await this.#compareItem(set, item, undefined)
      }
    }
  }

  /** What was found in the place of an item with what the log says, at the position of what was read last. */
  async #compareItem<Item>(set: UnorderedSet<Item>, place: Item, found: Item | undefined): Promise<void> {
    const { item } = await this.#scratch((scratch, generation) => set.find(scratch, generation, place))
    const text = (each: Item | undefined) => (each === undefined ? [] : [set.text(each)])
    this.#add(compareTexts(set.name, text(item), text(found)), 0)
  }

  /** As found, and as the log says at the same position. */
  async #contents(): Promise<readonly [found: Contents, expected: Contents]> {
    const found = await this.#live((live) => live.contents(this.#generation))
    return [found, await this.#scratch((scratch, generation) => scratch.contents(generation))]
  }

  /** What the live read models answer, as long as they are those that are verified; the scratch ones are then as far. */
  async #live<T extends { readonly snapshot: Snapshot }>(
    read: (live: Inspection) => Promise<T | undefined>,
  ): Promise<T> {
    const found = await retry(() => read(this.#options.store.inspection), this.#options)
    if (found?.snapshot.active !== this.#generation) {
      throw new VerifyError('Another generation took over while this one was verified.')
    }
    await this.#replay.upTo(found.snapshot.checkpoints)
    return found
  }

  async #scratch<T>(read: (scratch: Inspection, generation: string) => Promise<T | undefined>): Promise<T> {
    const found = await read(this.#options.scratch.inspection, this.#replay.generation)
    if (found === undefined) throw new VerifyError('The scratch read models are gone.')
    return found
  }

  #add(differences: readonly Difference[], compared: number): void {
    for (const difference of differences) this.#differences.set(`${difference.where} ${difference.id}`, difference)
    this.#compared += compared
    this.#options.progress?.('compare', this.#compared, Math.max(this.#total, this.#compared))
  }
}

function textsOf(entries: Entries['entries']): (readonly [string, string])[] {
  return entries.map(({ id, text }) => [String(id), text])
}

/** One after the other, until there is no next one. */
async function* pages<Page extends { readonly next: string | undefined }>(
  read: (from: string) => Promise<Page>,
): AsyncGenerator<Page> {
  for (let from: string | undefined = ''; from !== undefined; ) {
    const page: Page = await read(from)
    yield page
    from = page.next
  }
}
