import { setTimeout as delay } from 'node:timers/promises'
import { type LaneMembership, RightMissing } from '../../published-log.ts'
import { type ConsumerOptions, KafkaConsumer } from '../kafka-consumer.ts'

const restartDelayMs = 500
/** A new broker makes the topic of consumer groups when it is first asked about one, and has no coordinator until then. */
const failingAfter = 20

/**
 * Membership in the group that shares the partitions of the positions. Nothing is read from them: who is assigned one has
 * its lane. A member that has ended is replaced, and takes no lane away: only another assignment does.
 */
export class LaneGroup implements LaneMembership {
  readonly #options: ConsumerOptions
  readonly #assigned: (partitions: readonly number[]) => void
  readonly #askForRights: () => Promise<void>
  readonly #closing = new AbortController()
  readonly #ended: Promise<void>
  #consumer: KafkaConsumer | undefined
  #beat = Promise.withResolvers<void>()
  #failures = 0
  #failure: unknown

  /** `askForRights` throws if one lacks: kafkajs keeps that to itself. */
  constructor(
    options: ConsumerOptions,
    assigned: (partitions: readonly number[]) => void,
    askForRights: () => Promise<void>,
  ) {
    this.#options = options
    this.#assigned = assigned
    this.#askForRights = askForRights
    this.#ended = this.#run()
  }

  get failure(): unknown {
    const isFailing = this.#failure instanceof RightMissing || this.#failures >= failingAfter
    return isFailing && this.#failures > 0 ? this.#failure : undefined
  }

  heartbeat(): Promise<void> {
    return this.#beat.promise
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#consumer?.stop()
    await this.#ended
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      this.#consumer = new KafkaConsumer(this.#options, {
        assigned: (partitions) => this.#assign(partitions),
        heartbeat: () => this.#beats(),
        batch: async () => {},
        cannotDecode: () => {},
        leftOut: () => {},
      })
      const error = await this.#consumer.run()
      if (signal.aborted) return
      this.#failure = await this.#askForRights().then(
        () => error,
        (missing: unknown) => (missing instanceof RightMissing ? missing : error),
      )
      this.#failures++
      this.#options.logger.debug(
        { err: error, group: this.#options.group },
        'Kafka: joining the group of publishers again',
      )
      await delay(restartDelayMs, undefined, { signal }).catch(() => {})
    }
  }

  #assign(partitions: readonly number[]): void {
    if (!this.#closing.signal.aborted) this.#assigned(partitions)
  }

  #beats(): void {
    this.#failures = 0
    this.#beat.resolve()
    this.#beat = Promise.withResolvers()
  }
}
