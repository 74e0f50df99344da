/**
 * What waits, by owner of API keys. Owners take turns, however much one of them has here, and what one owner has leaves in
 * its order of arrival. So each other owner has one turn at most before each item of an owner.
 */
export class FairQueue<Item> {
  /** In the order of their turns: an owner that had one comes last, as does one that had nothing here. */
  readonly #owners = new Map<string, Set<Item>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(owner: string, item: Item): void {
    const items = this.#owners.get(owner)
    if (items === undefined) this.#owners.set(owner, new Set([item]))
    else items.add(item)
    this.#size++
  }

  /** It leaves without a turn. */
  remove(owner: string, item: Item): void {
    const items = this.#owners.get(owner)
    if (items?.delete(item)) this.#size--
    if (items?.size === 0) this.#owners.delete(owner)
  }

  /** What owners have had here longest leaves without a turn, as far as it `isOver`. */
  removeFirst(isOver: (item: Item) => boolean): Item[] {
    const removed: Item[] = []
    for (const [owner, items] of this.#owners) {
      for (const item of items) {
        if (!isOver(item)) break
        this.remove(owner, item)
        removed.push(item)
      }
    }
    return removed
  }

  /** The next item of the first owner that may have a turn; those before it keep their places. */
  take(
    mayHaveTurn: (owner: string) => boolean = () => true,
  ): { readonly owner: string; readonly item: Item } | undefined {
    for (const [owner, items] of this.#owners) {
      if (!mayHaveTurn(owner)) continue
      for (const item of items) {
        this.remove(owner, item)
        if (items.size > 0 && this.#owners.size > 1) this.#putLast(owner, items)
        return { owner, item }
      }
    }
    return undefined
  }

  #putLast(owner: string, items: Set<Item>): void {
    this.#owners.delete(owner)
    this.#owners.set(owner, items)
  }
}
