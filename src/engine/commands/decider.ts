import type { Recorded } from '../log/event-log.ts'

/** A command that the state does not allow; `code` is one of the engine or of the service. */
export class Rejected {
  readonly code: string
  readonly message: string

  constructor(code: string, message: string) {
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
