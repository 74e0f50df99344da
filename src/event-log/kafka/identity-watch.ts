import { ServiceError } from '../../lib/errors.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import { holdsIdentity } from './kafka-identity.ts'
import type { KafkaReader } from './kafka-reader.ts'

const lookEveryMs = 1000
const lookLimitMs = 2000

/** Looks once a second whether the topics still hold the log that was opened: they can be deleted and made anew. */
export class IdentityWatch {
  readonly #reader: KafkaReader
  readonly #idBlocks: string
  readonly #logId: string
  readonly #replaced = Promise.withResolvers<void>()
  readonly #looking = new SingleFlight(() => this.#look())
  readonly #timer: NodeJS.Timeout
  #isReplaced = false

  constructor(reader: KafkaReader, idBlocks: string, logId: string) {
    this.#reader = reader
    this.#idBlocks = idBlocks
    this.#logId = logId
    this.#timer = setInterval(() => void this.#looking.request(), lookEveryMs).unref()
  }

  /** Resolves once another log was found. */
  get replaced(): Promise<void> {
    return this.#replaced.promise
  }

  /** Looks now. Throws ServiceError event_log_unavailable when it is another log, or cannot be told within the limit. */
  async confirm(limitMs: number): Promise<void> {
    this.failIfReplaced()
    try {
      if (!(await holdsIdentity(this.#reader, this.#idBlocks, this.#logId, limitMs))) this.markReplaced()
    } catch (error) {
      throw unavailable(error)
    }
    this.failIfReplaced()
  }

  markReplaced(): void {
    this.#isReplaced = true
    clearInterval(this.#timer)
    this.#replaced.resolve()
  }

  failIfReplaced(): void {
    if (this.#isReplaced) throw unavailable(new Error(`${this.#idBlocks} is not that of the log that was opened`))
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking.stop()
  }

  async #look(): Promise<void> {
    await this.confirm(lookLimitMs).catch(() => {}) // brokers that are away say nothing of the log
  }
}

function unavailable(cause: unknown): ServiceError {
  return new ServiceError('event_log_unavailable', 'The event log does not answer, or is another one.', { cause })
}
