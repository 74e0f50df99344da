import { hash } from 'node:crypto'

/** A difference between the read models and the log. */
export interface Difference {
  /** Where it is: a set, or a size or a checkpoint. */
  readonly where: string
  readonly id: string
  /** Undefined: it should not be there. */
  readonly expected: string | undefined
  /** Undefined: it is missing. */
  readonly found: string | undefined
}

const keptMax = 1000
/** Once the texts that are kept have so many, no further ones are. */
const keptCharactersMax = 16_000_000
/** How many are recognized if they are found again. */
const recognizedMax = 100_000

/** Counts each difference once, by where and id: an item may be read twice. Keeps the first ones. */
export class Differences {
  readonly #kept: Difference[] = []
  readonly #known = new Set<string>()
  readonly #places = new Set<string>()
  #count = 0
  #characters = 0

  get kept(): readonly Difference[] {
    return this.#kept
  }

  get count(): number {
    return this.#count
  }

  isAnyIn(where: string): boolean {
    return this.#places.has(where)
  }

  add(difference: Difference): void {
    const { where, id, expected = '', found = '' } = difference
    const name = hash('sha1', `${where} ${id}`, 'base64url') // ids may be long
    if (this.#known.has(name)) return
    if (this.#known.size < recognizedMax) this.#known.add(name)
    this.#places.add(where)
    this.#count++
    if (this.#kept.length >= keptMax || this.#characters >= keptCharactersMax) return
    this.#kept.push(difference)
    this.#characters += id.length + expected.length + found.length
  }
}
