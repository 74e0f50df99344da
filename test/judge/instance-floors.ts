import type { Floor } from './answers.ts'
import type { Exchange } from './history.ts'

/** The prefixes that the answers of each instance have shown. */
export class InstanceFloors {
  readonly #now = new Map<string | undefined, Map<number, Floor>>()
  readonly #whenSent = new Map<Exchange, ReadonlyMap<number, Floor>>()

  sent(exchange: Exchange): void {
    this.#whenSent.set(exchange, new Map(this.#now.get(exchange.instance)))
  }

  of(exchange: Exchange, partition: number): Floor {
    return this.#whenSent.get(exchange)?.get(partition) ?? { n: 0 }
  }

  answered(by: Exchange, shown: ReadonlyMap<number, number>): void {
    this.#whenSent.delete(by)
    if (by.instance === undefined) return
    const floors = this.#now.get(by.instance) ?? new Map<number, Floor>()
    this.#now.set(by.instance, floors)
    for (const [partition, n] of shown) {
      if (n > (floors.get(partition)?.n ?? 0)) floors.set(partition, { n, by })
    }
  }
}
