import type { Floor } from './answers.ts'
import type { Exchange } from './history.ts'

/**
 * The prefixes below which an answer is stale: those that the same instance had shown when it was asked, and those of
 * the writes that any instance with the same read models had confirmed by then.
 */
export class Floors {
  readonly #shown = new Map<string, Map<number, Floor>>()
  readonly #confirmed = new Map<string | undefined, Map<number, Floor>>()
  readonly #whenSent = new Map<Exchange, ReadonlyMap<number, Floor>>()

  sent(exchange: Exchange): void {
    const floors = new Map(this.#confirmed.get(exchange.readModels))
    for (const [partition, floor] of this.#shown.get(exchange.instance ?? '') ?? []) raise(floors, partition, floor)
    this.#whenSent.set(exchange, floors)
  }

  of(exchange: Exchange, partition: number): Floor {
    return this.#whenSent.get(exchange)?.get(partition) ?? { n: 0 }
  }

  /** A refusal proves that something was so, and not how far its instance had come: it shows nothing. */
  answered(by: Exchange, shown: ReadonlyMap<number, number> = new Map()): void {
    this.#whenSent.delete(by)
    if (by.instance === undefined) return
    const floors = this.#shown.get(by.instance) ?? new Map<number, Floor>()
    this.#shown.set(by.instance, floors)
    for (const [partition, n] of shown) raise(floors, partition, { n, by })
  }

  confirmed(by: Exchange, partition: number, n: number): void {
    const floors = this.#confirmed.get(by.readModels) ?? new Map<number, Floor>()
    this.#confirmed.set(by.readModels, floors)
    raise(floors, partition, { n, by })
  }
}

function raise(floors: Map<number, Floor>, partition: number, floor: Floor): void {
  if (floor.n > (floors.get(partition)?.n ?? 0)) floors.set(partition, floor)
}
