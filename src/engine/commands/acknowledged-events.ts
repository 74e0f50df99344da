import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '../lib/errors/errors.ts'
import { SummedUp } from '../lib/operating/summed-up.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { EventLog, Position } from '../log/event-log.ts'
import { RecordGoneError, readAt } from '../log/read-at.ts'
import { readCloudEvent } from '../log/record-codec.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import { awaitWritten, isUndetermined, type Learned, nothingLoaded } from '../rule/awaiting.ts'
import type { Written } from './event-writer.ts'
import type { IdAllocator } from './id-allocator.ts'
import { OffsetQueue } from './offset-queue.ts'

/** All partitions together: about 15 MB. */
const defaultFollowedMax = 100_000
const waitMs = 1000
const defaultRetryMs = 1000
const closeMs = 1000
const settledATurn = 500

export interface AcknowledgedEventsOptions {
  readonly log: Pick<EventLog, 'partitions' | 'read' | 'endOffsets'>
  readonly readModel: Pick<ReadModel, 'load' | 'whenApplied' | 'generationOf'>
  readonly ids: Pick<IdAllocator, 'abandonBlockOf'>
  readonly logger: Logger
  /** Between two looks at an event for which log or read models are away. */
  readonly retryMs?: number
  readonly followedMax?: number
}

/** `id_taken`: something else was stored under its id first. `gone`: the log lost its end, and the event with it. */
export type LossReason = 'id_taken' | 'gone'

interface FollowedEvent extends Pick<Written<unknown>, 'id' | 'eventId' | 'position'> {
  /** The generation that was to learn of it. */
  readonly generation: string | undefined
}

/**
 * Follows events that were answered with success before their outcome was known: creations without an idempotency key.
 * What turns out to be lost is counted and logged, and no more ids are drawn from its block; nothing is appended in its
 * place, since nobody waits for the answer. An event is followed until its outcome is known for certain, however long
 * the read models are away; beyond a number of them the first of a partition are followed no more, which is counted.
 */
export class AcknowledgedEvents {
  /** How many were lost. */
  readonly lost: Record<LossReason, number> = { id_taken: 0, gone: 0 }
  /** How many are followed no more, so that nobody will know whether they were lost. */
  unfollowed = 0
  readonly #options: AcknowledgedEventsOptions
  /** For each partition. */
  readonly #followed: OffsetQueue<FollowedEvent>[]
  readonly #keptMax: number
  /** The work for each partition with events to follow. */
  readonly #working = new Map<number, Promise<void>>()
  readonly #dropped: SummedUp<number>
  #isClosing = false

  constructor(options: AcknowledgedEventsOptions) {
    const { log, followedMax = defaultFollowedMax } = options
    this.#options = options
    this.#followed = Array.from({ length: log.partitions }, () => new OffsetQueue())
    this.#keptMax = Math.floor(followedMax / log.partitions)
    this.#dropped = new SummedUp(
      (sum, count) => sum + count,
      (count) =>
        options.logger.warn(
          { count },
          'acknowledged events are followed no more: they are too many, or the process ends',
        ),
    )
  }

  follow({ id, eventId, position }: Pick<Written<unknown>, 'id' | 'eventId' | 'position'>): void {
    const { partition } = position
    const followed = this.#followed[partition]
    if (followed === undefined) throw new RangeError(`partition ${partition} of ${this.#followed.length}`)
    followed.add({ id, eventId, position, generation: this.#options.readModel.generationOf(partition) })
    if (followed.size > this.#keptMax) this.#dropFirst(followed)
    if (!this.#working.has(partition)) this.#working.set(partition, this.#settleAll(partition, followed))
  }

  /** Learns what can be learned within a second. */
  async close(): Promise<void> {
    this.#isClosing = true
    await withTimeout(closeMs, Promise.all(this.#working.values())).catch(() => {})
    this.#drop(this.#followed.reduce((sum, { size }) => sum + size, 0))
    this.#dropped.close()
  }

  #dropFirst(followed: OffsetQueue<FollowedEvent>): void {
    const { first } = followed
    if (first === undefined) return
    followed.remove(first)
    this.#drop(1)
  }

  #drop(count: number): void {
    if (count === 0) return
    this.unfollowed += count
    this.#dropped.note(count)
  }

  /** The first one first: what comes after it is not applied before. */
  async #settleAll(partition: number, followed: OffsetQueue<FollowedEvent>): Promise<void> {
    const { retryMs = defaultRetryMs } = this.#options
    let settled = 0
    for (let { first } = followed; first !== undefined; { first } = followed) {
      const isLastTime = this.#isClosing
      if (await this.#settle(first)) followed.remove(first)
      else if (isLastTime) return
      else await delay(retryMs, undefined, { ref: false })
      if (++settled % settledATurn === 0) await nextTurn()
    }
    this.#working.delete(partition)
  }

  /** Whether there is nothing more to learn of it. */
  async #settle(event: FollowedEvent): Promise<boolean> {
    try {
      const learned = await this.#learn(event)
      if (isUndetermined(learned)) return false
      const reason = await this.#lossOf(event, learned)
      if (reason !== undefined) this.#tell(event, reason)
      return true
    } catch (error) {
      if (error instanceof ServiceError) return false
      this.#options.logger.error({ err: error, ...shown(event) }, 'what became of an acknowledged event is unknown')
      this.#drop(1)
      return true
    }
  }

  /**
   * In another generation the log may have lost its end: its position may then be that of another event, or beyond the
   * end. So what is announced of it does not count, and it is looked up.
   */
  async #learn({ id, eventId, position, generation }: FollowedEvent): Promise<Learned> {
    const { readModel } = this.#options
    const isSame = () => generation !== undefined && generation === readModel.generationOf(position.partition)
    const event = { stream: String(id), key: undefined, position, eventId, version: 1 }
    const wait = { timeoutMs: waitMs, isRecorded: isSame() }
    const learned = await awaitWritten(readModel, event, wait, wait.isRecorded)
    const isAnnounced = learned.outcome === 'applied' && learned.stream === nothingLoaded
    return isAnnounced && !isSame() ? { outcome: 'late', stream: nothingLoaded } : learned
  }

  async #lossOf({ eventId, position }: FollowedEvent, { outcome }: Learned): Promise<LossReason | undefined> {
    if (outcome === 'applied') return undefined
    if (!(await isInLog(this.#options.log, position, eventId))) return 'gone'
    return outcome === 'superseded' || outcome === 'duplicate' ? 'id_taken' : undefined
  }

  #tell(event: FollowedEvent, reason: LossReason): void {
    const { ids, logger } = this.#options
    this.lost[reason]++
    logger.error({ ...shown(event), reason }, 'an acknowledged creation is lost')
    if (reason === 'id_taken') ids.abandonBlockOf(event.id)
  }
}

function shown({ id, eventId, position: { partition, offset } }: FollowedEvent) {
  return { id, event: `${partition}/${offset}`, eventId }
}

async function isInLog(
  log: AcknowledgedEventsOptions['log'],
  { partition, offset }: Position,
  eventId: string,
): Promise<boolean> {
  try {
    const [record] = await readAt(log, partition, [offset])
    return record?.value != null && readCloudEvent(record.value)?.id === eventId
  } catch (error) {
    if (error instanceof RecordGoneError) return false
    throw error
  }
}
