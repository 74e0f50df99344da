import { NoReadModelsError } from '../lib/errors.ts'
import type { Contents, Entries, Place } from '../read-models/inspection.ts'
import { encodeDecision } from '../read-models/key-decision.ts'
import type { Moment, ParkedAt, ReadModels } from '../read-models/read-models.ts'
import { compareContents, compareEntries, compareParked, type Difference, type Entry } from './compare.ts'
import type { ReadModelDefinition } from './definition.ts'
import { LimitedLog } from './limited-log.ts'
import { patiently } from './patience.ts'
import { Projector } from './projector.ts'
import { MismatchError, Replay, type ReplayOptions, VerifyError } from './replay.ts'

export interface VerifyOptions<Event> extends ReplayOptions {
  readonly store: ReadModels
  readonly definition: ReadModelDefinition<Event>
  /** Used by nobody else. */
  readonly group: string
}

export interface Verification {
  readonly generation: string
  readonly differences: readonly Difference[]
  /** How many documents, index entries, decisions, parked events and checkpoints were compared. */
  readonly compared: number
}

const chunk = 1000

/**
 * Compares everything in the active generation with what the log says, while writes go on: the log is replayed into
 * `scratch`, which is brought to exactly the positions of each chunk that is read. Throws VerifyError, MismatchError,
 * NoReadModelsError, and ServiceError when log or store stay away.
 */
export async function verify<Event>(options: VerifyOptions<Event>): Promise<Verification> {
  const { store, log, scratch } = options
  const active = await patiently(() => store.active(), options)
  if (active === undefined) throw new NoReadModelsError()
  if (active.epoch !== log.epoch) throw new MismatchError('The read models are made from another log.')
  const limited = new LimitedLog(log)
  const projector = await Projector.start({ ...options, log: limited, store: scratch })
  try {
    return await new Verifier(options, active.name, new Replay(options, limited)).run()
  } finally {
    await projector.close()
  }
}

class Verifier<Event> {
  readonly #options: VerifyOptions<Event>
  readonly #name: string
  readonly #replay: Replay
  readonly #differences: Difference[] = []
  #compared = 0
  #total = 0

  constructor(options: VerifyOptions<Event>, name: string, replay: Replay) {
    this.#options = options
    this.#name = name
    this.#replay = replay
  }

  async run(): Promise<Verification> {
    const { expected, found } = await this.#contents()
    this.#total = totalOf(found)
    const names = new Set([...expected.indexes.keys(), ...found.indexes.keys()])
    for (const index of [undefined, ...names]) await this.#compareEntries(index)
    await this.#compareDecisions()
    await this.#compareParked()
    const last = await this.#contents()
    // The numbers alone do not tell: where one is too many, another may be missing.
    const isInDoubt = (kind: string) => this.#differences.some(({ where }) => where === kind)
    if (isInDoubt('decision') || last.found.decisions !== last.expected.decisions) await this.#findMissingDecisions()
    if (isInDoubt('parked event') || last.found.parked !== last.expected.parked) await this.#findMissingParked()
    this.#found(compareContents(last.expected, last.found), last.found.moment.checkpoints.size)
    return { generation: this.#name, differences: this.#differences, compared: this.#compared }
  }

  async #compareEntries(index: string | undefined): Promise<void> {
    const where = index === undefined ? 'document' : `index ${index}`
    for (let next: number | undefined = 1; next !== undefined; ) {
      const from: number = next
      const range = { index, from, limit: chunk }
      const { moment, entries }: Entries = await this.#live((store) => store.entries(this.#name, range))
      await this.#replay.upTo(moment)
      const last: number | undefined = entries.length < chunk ? undefined : entries.at(-1)?.id
      const expected = await this.#expected(index, from, last ?? Number.MAX_SAFE_INTEGER)
      this.#found(compareEntries(where, expected, entries), entries.length)
      next = last === undefined ? undefined : last + 1
    }
  }

  /** The entries that the log says there are, both ends included. */
  async #expected(index: string | undefined, from: number, to: number): Promise<Entry[]> {
    const { scratch } = this.#options
    const expected: Entry[] = []
    for (let next = from; next <= to; ) {
      const { entries } = there(
        await scratch.entries(await this.#replay.generation(), { index, from: next, limit: chunk }),
      )
      expected.push(...entries.filter(({ id }) => id <= to))
      const last = entries.at(-1)
      if (last === undefined || entries.length < chunk) break
      next = last.id + 1
    }
    return expected
  }

  async #compareDecisions(): Promise<void> {
    const { scratch } = this.#options
    const generation = await this.#replay.generation()
    const read = (from: string) => this.#live((store) => store.decisions(this.#name, from, chunk))
    for await (const { moment, decisions } of pages(read)) {
      await this.#replay.upTo(moment)
      for (const decision of decisions) {
        const expected = await scratch.decision(generation, decision.key)
        const [says, has] = [expected && encodeDecision(expected), encodeDecision(decision)]
        if (says !== has) this.#differences.push({ where: 'decision', id: decision.key, expected: says, found: has })
      }
      this.#found([], decisions.length)
    }
  }

  /** Nothing is ever taken from the decisions: each that the log says there is by now has to be there. */
  async #findMissingDecisions(): Promise<void> {
    const { store, scratch } = this.#options
    const generation = await this.#replay.generation()
    for await (const { decisions } of pages(async (from) => there(await scratch.decisions(generation, from, chunk)))) {
      for (const decision of decisions) {
        const found = await patiently(() => store.decision(this.#name, decision.key), this.#options)
        if (found !== undefined) continue
        const expected = encodeDecision(decision)
        this.#differences.push({ where: 'decision', id: decision.key, expected, found })
      }
    }
  }

  async #compareParked(): Promise<void> {
    const read = (from: string) => this.#live((store) => store.parked(this.#name, from, chunk))
    for await (const { moment, events } of pages(read)) {
      await this.#replay.upTo(moment)
      for (const event of events) this.#found(compareParked(event, await this.#expectedAt(event), event), 1)
    }
  }

  /** What is parked may be taken up at any moment, and has to be there only as long as the log says so. */
  async #findMissingParked(): Promise<void> {
    const { scratch } = this.#options
    const generation = await this.#replay.generation()
    for await (const { events } of pages(async (from) => there(await scratch.parked(generation, from, chunk)))) {
      for (const place of events) {
        const { moment, event } = await this.#live((store) => store.parkedAt(this.#name, place))
        if (event !== undefined) continue
        await this.#replay.upTo(moment)
        this.#found(compareParked(place, await this.#expectedAt(place), undefined), 0)
      }
    }
  }

  async #expectedAt(place: Place): Promise<ParkedAt | undefined> {
    return there(await this.#options.scratch.parkedAt(await this.#replay.generation(), place)).event
  }

  async #contents(): Promise<{ expected: Contents; found: Contents }> {
    const found = await this.#live((store) => store.contents(this.#name))
    await this.#replay.upTo(found.moment)
    return { expected: there(await this.#options.scratch.contents(await this.#replay.generation())), found }
  }

  /** What the live read models answer, as long as they are those that are verified. */
  async #live<T extends { readonly moment: Moment }>(read: (store: ReadModels) => Promise<T | undefined>): Promise<T> {
    const { store } = this.#options
    const found = await patiently(() => read(store), this.#options)
    if (found?.moment.active !== this.#name)
      throw new VerifyError('Another generation took over while this one was verified.')
    return found
  }

  #found(differences: readonly Difference[], compared: number): void {
    this.#differences.push(...differences)
    this.#compared += compared
    this.#options.progress?.('compare', this.#compared, Math.max(this.#total, this.#compared))
  }
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

function there<T>(read: T | undefined): T {
  if (read === undefined) throw new VerifyError('The scratch read models are gone.')
  return read
}

function totalOf({ documents, indexes, decisions, parked, moment }: Contents): number {
  const entries = [...indexes.values()].reduce((sum, { held }) => sum + held, 0)
  return documents.held + entries + decisions + parked + moment.checkpoints.size
}
