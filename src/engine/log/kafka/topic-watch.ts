import { setTimeout as delay } from 'node:timers/promises'
import type { Admin } from 'kafkajs'
import type { Logger } from 'pino'
import type { Warning } from '../../lib/operating/warning.ts'
import type { KafkaConnection } from './kafka-client.ts'
import type { LogPartOptions } from './log-part-options.ts'

const lookLimitMs = 8000
const unknownAfterMs = 60_000

export interface TopicWatchOptions extends Pick<LogPartOptions, 'logger' | 'topicLookMs'> {
  readonly connection: KafkaConnection<Admin>
  /** The warnings found at the start. */
  readonly found: readonly Warning[]
  readonly look: (admin: Admin) => Promise<readonly Warning[]>
}

/** Checks the settings of the topics regularly, since anybody may change them at any time. */
export class TopicWatch {
  readonly #look: TopicWatchOptions['look']
  readonly #lookMs: number
  readonly #logger: Logger
  readonly #connection: KafkaConnection<Admin>
  readonly #ended = new AbortController()
  readonly #looking: Promise<void>
  #warnings: readonly Warning[] = []
  #lookedAtMs = performance.now()

  constructor({ connection, logger, found, look, topicLookMs = 10_000 }: TopicWatchOptions) {
    this.#look = look
    this.#lookMs = topicLookMs
    this.#logger = logger
    this.#connection = connection
    this.#change(found)
    this.#looking = this.#lookAgainAndAgain()
  }

  get warnings(): readonly Warning[] {
    return this.#warnings
  }

  /** Also closes the connection. */
  async close(): Promise<void> {
    this.#ended.abort()
    this.#connection.close()
    await this.#looking
  }

  async #lookAgainAndAgain(): Promise<void> {
    const { signal } = this.#ended
    while (!signal.aborted) {
      const waitMs = this.#lookMs * (1 + Math.random()) // so that processes that started together spread out
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => {})
      if (!signal.aborted) await this.#lookOnce()
    }
  }

  async #lookOnce(): Promise<void> {
    try {
      const found = await this.#connection.use(lookLimitMs, this.#look)
      this.#lookedAtMs = performance.now()
      this.#change(found)
    } catch (error) {
      if (!this.#ended.signal.aborted) this.#noteUnknown(error)
    }
  }

  /** The last warnings stay, as nothing contradicts them. */
  #noteUnknown(error: unknown): void {
    const code = 'topics_unknown'
    this.#logger.debug({ err: error }, 'Kafka: the topics could not be checked')
    if (performance.now() - this.#lookedAtMs < unknownAfterMs) return
    if (this.#warnings.some((warning) => warning.code === code)) return
    const reason = error instanceof Error ? error.message : String(error)
    const message = `The topics could not be checked for ${unknownAfterMs / 1000} s: ${reason}`
    this.#change([...this.#warnings, { code, message }])
  }

  /** Logs one line for each warning that appears or is resolved. */
  #change(found: readonly Warning[]): void {
    const before = this.#warnings
    this.#warnings = found
    for (const warning of without(found, before)) this.#logger.warn({ code: warning.code }, warning.message)
    for (const { code, message } of without(before, found)) {
      this.#logger.info({ code, was: message }, 'Kafka: a warning about the log is resolved')
    }
  }
}

function without(warnings: readonly Warning[], others: readonly Warning[]): readonly Warning[] {
  return warnings.filter(({ message }) => others.every((other) => other.message !== message))
}
