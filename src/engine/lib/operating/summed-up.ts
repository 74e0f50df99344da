const everyMs = 10_000

/** Tells the first figures at once, and once in ten seconds the sum of those that came meanwhile. */
export class SummedUp<Figures> {
  readonly #add: (sum: Figures, figures: Figures) => Figures
  readonly #tell: (sum: Figures) => void
  #untold: Figures | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(add: (sum: Figures, figures: Figures) => Figures, tell: (sum: Figures) => void) {
    this.#add = add
    this.#tell = tell
  }

  note(figures: Figures): void {
    this.#untold = this.#untold === undefined ? figures : this.#add(this.#untold, figures)
    if (this.#timer === undefined) this.#tellUntold()
  }

  /** Tells what is left. */
  close(): void {
    this.#tellUntold()
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #tellUntold(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#untold === undefined) return
    const sum = this.#untold
    this.#untold = undefined
    this.#timer = setTimeout(() => this.#tellUntold(), everyMs).unref()
    this.#tell(sum)
  }
}
