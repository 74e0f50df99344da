import type { Logger } from 'pino'

/** Whether log and store let a projector get on. The log of the process gets a line whenever that changes. */
export class Standing {
  readonly #logger: Pick<Logger, 'info' | 'error'>
  /** Undefined before the first look. */
  #isUp: boolean | undefined
  /**
   * The last batch could not be applied. A look that succeeds does not disprove that: a store may answer and refuse
   * writes.
   */
  #isRefused = false

  constructor(logger: Pick<Logger, 'info' | 'error'>) {
    this.#logger = logger
  }

  /** 'waiting' until log and store have answered, and while one of them does not. */
  get status(): 'up' | 'waiting' {
    return this.#isUp ? 'up' : 'waiting'
  }

  looked(): void {
    if (!this.#isRefused) this.#recovered()
  }

  failed(error: unknown): void {
    if (this.#isUp !== false) this.#logger.error({ err: error }, 'projector is waiting for log and read models')
    this.#isUp = false
  }

  applied(): void {
    if (this.#isRefused) this.#recovered()
    this.#isRefused = false
  }

  refused(error: unknown): void {
    this.#isRefused = true
    this.failed(error)
  }

  /** Other partitions are applied from now on. */
  assigned(): void {
    this.#isRefused = false
  }

  #recovered(): void {
    if (this.#isUp === false) this.#logger.info('projector continues')
    this.#isUp = true
  }
}
