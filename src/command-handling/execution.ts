import { ServiceError } from '../lib/errors.ts'
import type { IdempotencyRecord } from '../read-models/idempotency-record.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import type { LoadedStream } from '../read-models/stored-reads.ts'
import type { StateCodec, StreamRow } from '../read-models/stream-row.ts'
import { type CommandHandler, type CommandOptions, type Handled, UnknownOutcome } from './command-handler.ts'
import { type Decider, Rejected } from './decider.ts'
import { EventWriter, type EventWriterParts, type Target, type Written } from './event-writer.ts'
import { awaitOutcome, type Learned, nothingLoaded } from './outcome.ts'
import { Turns } from './turns.ts'
import { Unsettled, type UnsettledEvent } from './unsettled.ts'

export interface CommandHandlerParts<State, Event> extends EventWriterParts<Event> {
  readonly readModel: Pick<ReadModel, 'load' | 'whenApplied'>
  /** How this kind of stream is stored and written. */
  readonly kind: EventWriterParts<Event>['kind'] & { readonly codec: StateCodec<State> }
  /**
   * Time limit for answering a command, unless it is answered as soon as its event is durable. An append has its own
   * time limit.
   */
  readonly timeoutMs: number
}

export function createCommandHandler<State, Event>(
  parts: CommandHandlerParts<State, Event>,
): CommandHandler<State, Event> {
  const writer = new EventWriter(parts)
  const unsettled = new Unsettled<Event>()
  const turns = new Turns()
  return {
    handle(decider, command, options) {
      const execution = new Execution({ ...parts, writer, unsettled, decider, command, options })
      const { stream, idempotency } = options
      const turn = stream === 'new' ? idempotency?.key : stream
      if (turn === undefined) return execution.run()
      return turns.take(turn, parts.timeoutMs, () => execution.run(), conflict)
    },
  }
}

interface ExecutionParts<State, Command, Event> extends CommandHandlerParts<State, Event> {
  readonly writer: EventWriter<Event>
  readonly unsettled: Unsettled<Event>
  readonly decider: Decider<State, Command, Event>
  readonly command: (id: number) => Command
  readonly options: CommandOptions
}

/** A command being handled. */
class Execution<State, Command, Event> {
  readonly #parts: ExecutionParts<State, Command, Event>
  /**
   * A new stream without a key has no competitor: it needs no state, and may be answered before its outcome is known.
   */
  readonly #hasNoCompetitor: boolean
  /** A new stream without a key sets it with the first append: the wait begins once the event is durable. */
  #deadline: number | undefined

  constructor(parts: ExecutionParts<State, Command, Event>) {
    this.#parts = parts
    const { options, timeoutMs } = parts
    this.#hasNoCompetitor = options.stream === 'new' && options.idempotency === undefined
    this.#deadline = this.#hasNoCompetitor ? undefined : performance.now() + timeoutMs
  }

  async run(): Promise<Handled<State>> {
    const { writer, unsettled, options } = this.#parts
    const isNew = options.stream === 'new'
    let target: Target | undefined
    let basis = await this.#load()
    const earlier = basis.decided === undefined ? unsettled.find(writer.keyOf(options)) : undefined
    if (earlier !== undefined) basis = await this.#awaitEarlier(earlier)
    for (;;) {
      if (basis.decided !== undefined) return this.#replay(basis.decided)
      if (basis.hasParked) throw streamParked()
      if (isNew || target === undefined) target = await writer.target(options)
      const before = this.#read(basis.row)
      const event = this.#decide(target, before.state)
      if (event === 'unchanged') return { outcome: 'unchanged', ...before }
      const written = await this.#append(target, event, before.version + 1)
      const learned = await this.#learn(written, options.idempotency?.fingerprint)
      const { outcome } = learned
      if (outcome !== 'superseded' && outcome !== 'duplicate') return this.#answer(before.state, written, learned)
      if (isNew && outcome === 'superseded') writer.abandonBlockOf(target)
      basis = this.#basisFor(learned)
    }
  }

  async #learn(written: Written<Event>, fingerprint: string | undefined): Promise<Learned> {
    const { readModel, unsettled, options } = this.#parts
    const wait = { timeoutMs: this.#leftMs, isAbandoned: options.wait.isAbandoned }
    const learned = await awaitOutcome(readModel, written, wait, this.#hasNoCompetitor)
    const { key } = written
    if (key === undefined || fingerprint === undefined) return learned
    if (isUndetermined(learned)) unsettled.add(key, { written, fingerprint })
    else unsettled.remove(key)
    return learned
  }

  /** An event that an earlier request under the same key appended may already decide this one. */
  async #awaitEarlier({ written, fingerprint }: UnsettledEvent<Event>): Promise<LoadedStream> {
    const learned = await this.#learn(written, fingerprint)
    if (!isUndetermined(learned)) return this.#basisFor(learned)
    throw fingerprint === this.#parts.options.idempotency?.fingerprint
      ? outcomeUnknown(written, learned.cause)
      : conflict()
  }

  /**
   * What the next attempt builds on. The row of a new stream's id belongs to another pet, so only the record of the key
   * counts.
   */
  #basisFor({ stream }: Learned): LoadedStream {
    return this.#parts.options.stream === 'new' ? { ...nothingLoaded, decided: stream.decided } : stream
  }

  get #leftMs(): number {
    return (this.#deadline ?? Number.POSITIVE_INFINITY) - performance.now()
  }

  async #load(): Promise<LoadedStream> {
    const { readModel, writer, options } = this.#parts
    if (this.#hasNoCompetitor) return nothingLoaded
    const { stream, atLeast } = options
    const query = { stream: stream === 'new' ? undefined : stream, key: writer.keyOf(options) }
    if (atLeast === undefined) return await readModel.load(query)
    const { positions, wait } = atLeast
    const timeoutMs = Math.min(wait.timeoutMs, this.#leftMs)
    return await readModel.load(query, { positions, wait: { ...wait, timeoutMs } })
  }

  #replay(record: IdempotencyRecord): Handled<State> {
    const { options } = this.#parts
    if (record.fingerprint !== options.idempotency?.fingerprint) throw keyReused()
    if (record.parked) throw eventParked()
    const { partition, offset } = record
    return { outcome: 'replayed', record, position: { partition, offset } }
  }

  #read(row: StreamRow | undefined): { readonly state: State; readonly version: number } {
    const { kind, decider } = this.#parts
    return row === undefined
      ? { state: decider.initialState, version: 0 }
      : { state: kind.codec.read(row), version: row.version }
  }

  #decide({ id }: Target, state: State): Event | 'unchanged' {
    const { decider, command } = this.#parts
    const decision = decider.decide(command(id), state)
    if (decision instanceof Rejected) throw new ServiceError(decision.code, decision.message)
    return decision
  }

  async #append(target: Target, event: Event, version: number): Promise<Written<Event>> {
    const { writer, options } = this.#parts
    if (this.#leftMs <= 0) throw conflict()
    try {
      const written = await writer.append(options, target, event, version)
      this.#deadline ??= performance.now() + options.wait.timeoutMs
      return written
    } catch (error) {
      const isUnknown = error instanceof ServiceError && error.code === 'append_outcome_unknown'
      throw isUnknown ? new UnknownOutcome(target, error.message, error) : error
    }
  }

  #answer(before: State, written: Written<Event>, { outcome, stream: { row }, cause }: Learned): Handled<State> {
    if (outcome === 'parked') throw eventParked()
    if (outcome !== 'applied' && !(outcome === 'late' && this.#hasNoCompetitor)) throw outcomeUnknown(written, cause)
    const { version, position } = written
    // The stored document, if it still has this version. If the log has lost its end, `before` no longer exists.
    const state = row?.version === version ? this.#read(row).state : this.#parts.decider.evolve(before, written)
    return { outcome: 'applied', state, version, position, isReadable: outcome === 'applied' }
  }
}

function isUndetermined({ outcome }: Learned): boolean {
  return outcome === 'late' || outcome === 'unknown'
}

function keyReused(): ServiceError {
  return new ServiceError('idempotency_key_reused', 'This Idempotency-Key was already used for a different request.')
}

function streamParked(): ServiceError {
  return new ServiceError(
    'stream_parked',
    'An earlier event of this pet is parked, and nothing can follow it. Nothing was stored.',
  )
}

function eventParked(): ServiceError {
  return new ServiceError('event_parked', 'The event is stored, but it could not be applied and is parked.')
}

function conflict(): ServiceError {
  return new ServiceError('conflict', 'Other writes kept coming first until the time was up. Nothing was changed.')
}

function outcomeUnknown(written: Target, cause: ServiceError | undefined): UnknownOutcome {
  const message =
    'The event is stored, but its outcome is not known yet. With an Idempotency-Key the request can be sent again.'
  return new UnknownOutcome(written, message, cause)
}
