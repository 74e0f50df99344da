/** Runs a task one at a time. Whatever asks for it during a run gets another run after it: the run may have looked too early. */
export class SingleFlight {
  readonly #task: () => Promise<void>
  #requested = false
  #running: Promise<void> | undefined
  #stopped = false

  /** The task handles its own errors. */
  constructor(task: () => Promise<void>) {
    this.#task = task
  }

  request(): void {
    if (this.#stopped) return
    this.#requested = true
    this.#running ??= this.#run()
  }

  /** No run begins after the call; resolves once the last one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#requested && !this.#stopped) {
      this.#requested = false
      await this.#task()
    }
    this.#running = undefined
  }
}
