import type { Recorded } from '../log/event-log.ts'
import type { ErrorCode } from '../lib/errors.ts'

/** A command that the state does not allow. */
export class Rejected {
  readonly code: ErrorCode
  readonly message: string

  constructor(code: ErrorCode, message: string) {
    this.code = code
    this.message = message
  }
}

/**
 * `decide` turns a command into an event or an error; `evolve` says what an event means. Pure: no clock, no randomness,
 * no I/O. The order of the log decides whether the event takes effect.
 */
export interface Decider<State, Command, Event> {
  /** The state of a stream without events. */
  readonly initialState: State
  decide(command: Command, state: State): Event | 'unchanged' | Rejected
  /**
   * The state after the event. Throws an Error with the reason if the event cannot follow the state, IdTakenError if only
   * the id of what it creates is in the way.
   */
  evolve(state: State, recorded: Recorded<Event>): State
}
