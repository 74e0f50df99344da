/**
 * Runs a task one at a time. A request during a run gets another run after it, because the current one may have looked
 * too early.
 */
export class SingleFlight {
  readonly #task: () => Promise<void>
  #running: Promise<void> | undefined
  /** The run after the current one, once it has been requested. */
  #following: Promise<void> | undefined
  #stopped = false

  /** The task handles its own errors. */
  constructor(task: () => Promise<void>) {
    this.#task = task
  }

  /** Resolves once a run that began after the call has ended, or none will begin; later requests do not delay it. */
  async request(): Promise<void> {
    if (this.#stopped) return
    if (this.#running === undefined) return await this.#run()
    this.#following ??= this.#running.then(() => this.#run())
    await this.#following
  }

  /** No run begins after the call; resolves once the last one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  async #run(): Promise<void> {
    this.#following = undefined
    this.#running = this.#stopped ? undefined : this.#task()
    await this.#running
    if (this.#following === undefined) this.#running = undefined
  }
}
