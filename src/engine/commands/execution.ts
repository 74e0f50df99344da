import { decisionOf } from '../definition/decision.ts'
import { kindOrFirst, type StreamDefinition } from '../definition/kinds.ts'
import { Rejected } from '../door/rejected.ts'
import type { AnyEvent } from '../door/stream.ts'
import { eventTime } from '../lib/clock.ts'
import { IdTakenError, ServiceError } from '../lib/errors/errors.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { EventLog } from '../log/event-log.ts'
import { DamagedError } from '../read-models/damaged.ts'
import type { DocumentId } from '../read-models/document.ts'
import type { StreamQuery } from '../read-models/ports/reads.ts'
import type { FoundStream, ReadModel } from '../read-models/read-model.ts'
import type { IdempotencyRecord } from '../read-models/stored-texts.ts'
import { awaitWritten, isUndetermined, type Learned, nothingLoaded } from '../rule/awaiting.ts'
import { type RecordedEvents, StreamState } from '../rule/stream-state.ts'
import type { AcknowledgedEvents } from './acknowledged-events.ts'
import { appendPending, conflict, eventParked, keyReused, streamParked, unknownOutcomeOf } from './command-errors.ts'
import {
  type CommandHandler,
  type CommandOptions,
  type Handled,
  type MakeCommand,
  UnknownOutcome,
} from './command-handler.ts'
import { EventWriter, type EventWriterOptions, type Target, type WriteRequest, type Written } from './event-writer.ts'
import { type PendingAppend, PendingAppends } from './pending-appends.ts'
import { Turns } from './turns.ts'

export interface CommandHandlerOptions<State, Command, Event extends AnyEvent>
  extends EventWriterOptions<State, Event> {
  readonly kind: StreamDefinition<State, Command, Event>
  readonly log: Pick<EventLog, 'partitionFor' | 'endOffsets'>
  readonly readModel: Pick<ReadModel, 'load' | 'whenApplied' | 'generationOf' | 'reportDamage'>
  readonly acknowledged: Pick<AcknowledgedEvents, 'follow'>
  readonly now: () => Date
  /** Time limit for a command, from its call until its event has an outcome: for waiting, appending and learning together. */
  readonly timeoutMs: number
}

type HandlersOptions = Omit<CommandHandlerOptions<unknown, unknown, AnyEvent>, 'kind'>
export type CommandHandlers = (kind: StreamDefinition) => CommandHandler<unknown, unknown>

export function createCommandHandler<State, Command, Event extends AnyEvent>(
  options: CommandHandlerOptions<State, Command, Event>,
): CommandHandler<State, Command> {
  const { readModel, timeoutMs, definition, kind } = options
  const common = { ...options, writer: new EventWriter(options), pending: new PendingAppends<Event>() }
  const turns = new Turns()
  return {
    async handle(command, given) {
      const { stream: about, owner, idempotency } = given
      const deadline = performance.now() + timeoutMs
      const waiter = () => ({ owner, waitMs: deadline - performance.now(), late: conflict })
      if (typeof about === 'object') {
        // A stream's own document leads to it also when it is removed.
        const query = { document: about, stream: definition.names.streamOf(about) }
        const loaded = await load(readModel, query, given, timeoutMs)
        const stream = loaded.document?.stream ?? loaded.row?.stream
        // Streams of two kinds may show documents of one collection.
        const isOfKind =
          stream !== undefined && kindOrFirst(definition, stream).stream.collection === kind.stream.collection
        if (!isOfKind) return { outcome: 'not_found', reached: loaded.reached }
        const request = { ...given, stream }
        const execution = new Execution({ ...common, command, given, request, deadline, document: about })
        // Another command of the stream may have changed what was loaded before its turn.
        const run = (hasWaited: boolean) => execution.run(hasWaited ? undefined : loaded)
        return await turns.take(stream, waiter(), run)
      }
      const request = { ...given, stream: about }
      const execution = new Execution({ ...common, command, given, request, deadline, document: undefined })
      const turn = about === 'new' ? idempotency?.key : about
      if (turn === undefined) return await execution.run()
      return await turns.take(turn, waiter(), () => execution.run())
    },
  }
}

async function load(
  readModel: Pick<ReadModel, 'load'>,
  query: StreamQuery,
  { atLeast, owner }: CommandOptions,
  leftMs: number,
): Promise<FoundStream> {
  if (atLeast === undefined) return await readModel.load(query, undefined, owner)
  const wait = { ...atLeast.wait, timeoutMs: Math.min(atLeast.wait.timeoutMs, leftMs) }
  return await readModel.load(query, { ...atLeast, wait }, owner)
}

/** A handler for each kind of stream. */
export function commandHandlers({ definition, ...parts }: HandlersOptions): CommandHandlers {
  const handlers = new Map(definition.kinds.map((kind) => [kind, createCommandHandler({ ...parts, definition, kind })]))
  return (kind) => {
    const handler = handlers.get(kind)
    if (handler === undefined) throw new RangeError(`no kind of stream: ${kind.stream.collection}`)
    return handler
  }
}

interface ExecutionOptions<State, Command, Event extends AnyEvent>
  extends CommandHandlerOptions<State, Command, Event> {
  readonly writer: EventWriter<State, Event>
  readonly pending: PendingAppends<Event>
  readonly command: MakeCommand<Command>
  readonly given: CommandOptions
  readonly request: WriteRequest
  /** When the time limit ends, in the time of `performance.now()`. */
  readonly deadline: number
  /** The document that the command is about, if it is about one. */
  readonly document: DocumentId | undefined
}

/** Each takes a block of ids: without a bound, a stream that refuses every id would use up blocks until the time is over. */
const idsTakenMax = 5
/** Records that one command appends in vain, each because a rival came first or its id was taken. */
const appendsMax = 100

/** A command being handled. */
class Execution<State, Command, Event extends AnyEvent> {
  readonly #options: ExecutionOptions<State, Command, Event>
  /**
   * A new stream without a key has no competitor: it needs no state, and may be answered before its outcome is known.
   */
  readonly #hasNoCompetitor: boolean
  /** A new stream without a key sets it anew with the first append: the wait until it can be read begins then. */
  #deadline: number
  #isDurable = false

  constructor(options: ExecutionOptions<State, Command, Event>) {
    this.#options = options
    const { request, deadline } = options
    this.#deadline = deadline
    this.#hasNoCompetitor = request.stream === 'new' && request.idempotency === undefined
  }

  /** `loaded`: the stream, if it is loaded. */
  async run(loaded?: FoundStream): Promise<Handled<State>> {
    const { writer, request } = this.#options
    const isNew = request.stream === 'new'
    let target: Target | undefined
    let idsTaken = 0
    let appended = 0
    let basis = await this.#learnEarlier(loaded ?? (await this.#load()))
    for (;;) {
      if (basis.decided !== undefined) return this.#replay(basis.decided)
      if (basis.parked !== undefined) throw streamParked()
      target ??= await writer.target(request, this.#deadline)
      const stream = this.#stateOf(target, basis)
      const time = eventTime(this.#options.now())
      const events = this.#decide(target, time, stream.state, basis)
      const { document, reached } = basis
      if (events === 'unchanged') return { outcome: 'unchanged', document: document?.json, reached }
      if (events === 'not_found') return { outcome: 'not_found', reached }
      const written = await this.#append(target, { events, version: stream.version + 1, time }, stream)
      if (written === 'id_taken') {
        if (++idsTaken === idsTakenMax) throw conflict()
        target = undefined
        continue
      }
      const learned = await this.#learn(written, request.idempotency?.fingerprint)
      const { outcome } = learned
      if (outcome !== 'superseded' && outcome !== 'duplicate') return this.#answer(stream, written, learned)
      if (++appended === appendsMax) throw conflict()
      if (isNew || outcome === 'duplicate') target = undefined
      basis = this.#basisFor(learned)
    }
  }

  /** Throws DamagedError. */
  #stateOf({ stream, partition }: Target, { row }: FoundStream): StreamState<State, Event> {
    try {
      const { definition, kind } = this.#options
      return new StreamState<State, Event>(kind, stream, definition.names.documentOf(stream), row)
    } catch (error) {
      if (error instanceof DamagedError) this.#options.readModel.reportDamage(partition, error)
      throw error
    }
  }

  async #learn(written: Written<Event>, fingerprint: string | undefined): Promise<Learned> {
    const { readModel, writer, pending, given, document } = this.#options
    const wait = { timeoutMs: this.#leftMs, isAbandoned: given.wait.isAbandoned }
    const learned = await awaitWritten(
      readModel,
      { ...written, document, owner: given.owner },
      wait,
      this.#hasNoCompetitor,
    )
    if (this.#isIdTaken(learned)) writer.abandonBlockOf(written)
    const { key } = written
    if (key === undefined || fingerprint === undefined) return learned
    const generation = readModel.generationOf(written.partition)
    if (isUndetermined(learned)) pending.add(key, { written, fingerprint, generation })
    else pending.remove(key)
    return learned
  }

  /** Whether the event had no effect because of the id drawn for it: no rival came first, and its key is not decided. */
  #isIdTaken({ outcome, stream }: Learned): boolean {
    if (stream.decided !== undefined) return false
    return outcome === 'duplicate' || (outcome === 'superseded' && this.#options.request.stream === 'new')
  }

  /** What is known once the event is settled that an earlier request under the same key appended, if there is one. */
  async #learnEarlier(loaded: FoundStream): Promise<FoundStream> {
    const { writer, pending, request } = this.#options
    const key = writer.keyOf(request)
    const earlier = loaded.decided === undefined ? pending.find(key) : undefined
    if (key === undefined || earlier === undefined) return loaded
    if (await this.#isWorthless(earlier)) {
      pending.remove(key)
      return loaded
    }
    const { written, fingerprint } = earlier
    const learned = await this.#learn(written, fingerprint)
    if (!isUndetermined(learned)) return this.#basisFor(learned)
    throw fingerprint === request.idempotency?.fingerprint ? unknownOutcomeOf(written, learned.cause) : appendPending()
  }

  /** A log that lost its end may not have the event any more: its position, or what is known of it, is worth nothing. */
  async #isWorthless({ written: { position }, generation }: PendingAppend<Event>): Promise<boolean> {
    const { readModel, log } = this.#options
    if (readModel.generationOf(position.partition) !== generation) return true
    const ends = await withTimeout(this.#leftMs, log.endOffsets()).catch(() => undefined)
    return ends !== undefined && position.offset >= (ends[position.partition] ?? 0)
  }

  /**
   * What the next attempt builds on. The row of a new stream's id belongs to another stream, so only the record of the key
   * counts.
   */
  #basisFor({ stream }: Learned): FoundStream {
    return this.#options.request.stream === 'new' ? { ...nothingLoaded, decided: stream.decided } : stream
  }

  get #leftMs(): number {
    return this.#deadline - performance.now()
  }

  async #load(): Promise<FoundStream> {
    const { readModel, writer, given, request, document } = this.#options
    if (this.#hasNoCompetitor) return nothingLoaded
    const stream = request.stream === 'new' ? undefined : request.stream
    return await load(readModel, { stream, document, key: writer.keyOf(request) }, given, this.#leftMs)
  }

  #replay(record: IdempotencyRecord): Handled<State> {
    if (record.fingerprint !== this.#options.request.idempotency?.fingerprint) throw keyReused()
    if (record.parked) throw eventParked()
    const { partition, offset } = record
    return { outcome: 'replayed', record, position: { partition, offset } }
  }

  #decide(
    { id }: Target,
    time: string,
    state: State,
    { document }: FoundStream,
  ): readonly Event[] | 'unchanged' | 'not_found' {
    const { kind, command, given, document: about } = this.#options
    const decision = decisionOf(kind.stream, command({ id, time }), state)
    if (decision === 'unchanged') return decision
    if (about !== undefined && document === undefined) return 'not_found' // it is removed
    given.precondition?.(document?.json ?? '')
    if (decision instanceof Rejected) throw ServiceError.own(decision.code, decision.message)
    return decision
  }

  /** The document that the command is answered with. */
  #leftBy({ id }: Target): DocumentId | undefined {
    const { document, request, kind } = this.#options
    return document ?? (id === 0 ? undefined : { collection: request.creates ?? kind.stream.collection, id })
  }

  /** 'id_taken': the id that was drawn is that of something in the stream. */
  async #append(
    target: Target,
    recorded: RecordedEvents<Event>,
    before: StreamState<State, Event>,
  ): Promise<Written<Event> | 'id_taken'> {
    const { writer, given, request } = this.#options
    if (this.#leftMs <= 0) throw conflict()
    try {
      const leaves = this.#leftBy(target)
      const written = await writer.append(request, { ...target, leaves }, recorded, before, this.#deadline)
      if (this.#hasNoCompetitor && !this.#isDurable) this.#deadline = performance.now() + given.wait.timeoutMs
      this.#isDurable = true
      return written
    } catch (error) {
      if (error instanceof IdTakenError) {
        writer.abandonBlockOf(target)
        return 'id_taken'
      }
      const isUnknown = error instanceof ServiceError && error.code === 'append_outcome_unknown'
      throw isUnknown ? new UnknownOutcome(target, error.message, error) : error
    }
  }

  /** `applied`: the stream after the last event, as it was applied before it was appended. */
  #answer(
    applied: StreamState<State, Event>,
    written: Written<Event>,
    { outcome, stream: { row }, cause }: Learned,
  ): Handled<State> {
    if (outcome === 'parked' || outcome === 'discarded') throw eventParked()
    if (outcome !== 'applied' && !(outcome === 'late' && this.#hasNoCompetitor)) throw unknownOutcomeOf(written, cause)
    if (outcome === 'late') this.#options.acknowledged.follow(written)
    const { id, version, position } = written
    const { documents } = applied
    // What is stored, if it still has this version. If the log has lost its end, the state before no longer exists.
    const state = row?.version === version ? this.#options.kind.codec.read(row) : applied.state
    const isReadable = outcome === 'applied'
    return { outcome: 'applied', id, state, documents, version, position, isReadable }
  }
}
