import type { ShownDocument } from '../definition/shown-documents.ts'
import { ServiceError } from '../lib/errors/errors.ts'
import type { Position } from '../log/event-log.ts'
import type { DocumentId } from '../read-models/document.ts'
import type { AtLeast, Reached, Wait } from '../read-models/read-model.ts'
import type { IdempotencyRecord, StreamId } from '../read-models/stored-texts.ts'
import type { Target, WriteRequest } from './event-writer.ts'

export interface CommandOptions extends Omit<WriteRequest, 'stream'> {
  /** Which stream the command is about: a new one, one by its name, or the one that shows a document. */
  readonly stream: StreamId | 'new' | DocumentId
  /** Whose API key it is: commands about the same stream take turns between owners. */
  readonly owner: string
  /** Throws ServiceError precondition_failed unless the document, as JSON text, is one that the client accepts. */
  readonly precondition?: ((document: string) => void) | undefined
  /** The state that the command is decided on must include these positions. */
  readonly atLeast?: AtLeast | undefined
  /**
   * How long to wait until the read model shows a new stream, if there is no Idempotency-Key. Every other write awaits
   * its outcome.
   */
  readonly wait: Wait
}

export type Handled<State> =
  | {
      readonly outcome: 'applied'
      /** The id drawn for what the command created; 0 if none was drawn. */
      readonly id: number
      /** The state right after the last event. */
      readonly state: State
      /** What the stream showed before, and each of the events: the state after the last may not show all of it. */
      readonly documents: readonly ShownDocument[]
      readonly version: number
      readonly position: Position
      /** Whether it can be read now. Only a new stream without an Idempotency-Key may be unreadable yet. */
      readonly isReadable: boolean
    }
  /** There was nothing to do. `document` is the one that the command is about, as JSON text, if it is about one. */
  | { readonly outcome: 'unchanged'; readonly document: string | undefined; readonly reached: Reached }
  /** There is no such document: there never was, or it is removed, and the decider did not find that nothing is to be done. */
  | { readonly outcome: 'not_found'; readonly reached: Reached }
  /** An earlier request with the same idempotency key did it. */
  | { readonly outcome: 'replayed'; readonly record: IdempotencyRecord; readonly position: Position }

/** Makes a command from what is known only once it is handled. */
export type MakeCommand<Command> = (drawn: { readonly id: number; readonly time: string }) => Command

export interface CommandHandler<State, Command> {
  /**
   * Load, decide, append, await, answer; repeated if a competing event came first. `command` makes the command from the
   * id drawn for it (0 if none is drawn), which for a new stream is also the id of the stream, and from the time that the
   * event will carry (RFC 3339, UTC).
   * In this order: there never was such a document; nothing to do; it is removed; what `precondition` throws of the document as it
   * was loaded; and what the decider rejects. Throws ServiceError further: idempotency_key_reused;
   * stream_parked, event_parked, conflict; what reading throws, if that was before anything was appended; what appending
   * throws; append_outcome_unknown (an UnknownOutcome) also for an event that is stored but whose outcome is not known in
   * time.
   */
  handle(command: MakeCommand<Command>, options: CommandOptions): Promise<Handled<State>>
}

/** The append_outcome_unknown error of a command. */
export class UnknownOutcome extends ServiceError {
  /** The id drawn for what the command may have created; 0 if none was drawn. */
  readonly id: number

  constructor({ id }: Pick<Target, 'id'>, message: string, cause: unknown) {
    super('append_outcome_unknown', message, { cause })
    this.id = id
  }
}
