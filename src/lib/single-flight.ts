/** Runs a task one at a time. Whatever asks for it during a run gets another run after it: the run may have looked too early. */
export class SingleFlight {
  readonly #task: () => Promise<void>
  #running: Promise<void> | undefined
  /** The run after the present one, once somebody asked for it. */
  #following: Promise<void> | undefined
  #stopped = false

  /** The task handles its own errors. */
  constructor(task: () => Promise<void>) {
    this.#task = task
  }

  /** Resolves once a run that began after the call has ended, or none will: not later because others ask for more. */
  async request(): Promise<void> {
    if (this.#stopped) return
    if (this.#running === undefined) this.#running = this.#run()
    else {
      this.#following ??= this.#follow(this.#running)
      return await this.#following
    }
    await this.#running
  }

  /** No run begins after the call; resolves once the last one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  async #follow(running: Promise<void>): Promise<void> {
    await running
    this.#following = undefined
    if (this.#stopped) this.#running = undefined
    else this.#running = this.#run()
    await this.#running
  }

  async #run(): Promise<void> {
    await this.#task()
    if (this.#following === undefined) this.#running = undefined
  }
}
