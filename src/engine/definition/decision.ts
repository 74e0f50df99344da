import { Rejected } from '../door/rejected.ts'
import type { AnyEvent, Stream } from '../door/stream.ts'
import { messageOf } from '../lib/errors/errors.ts'

/** What a command comes to: events, one at least, or none for either reason. */
export type Decision<Event extends AnyEvent> = readonly Event[] | 'unchanged' | Rejected<string>

/** Throws an Error with the reason where `decide` throws, or returns what is no decision. */
export function decisionOf<State, Command, Event extends AnyEvent>(
  { decide }: Pick<Stream<State, Command, Event>, 'decide'>,
  command: Command,
  state: State,
): Decision<Event> {
  const decided = answerOf(() => decide(command, state))
  if (decided === 'unchanged' || decided instanceof Rejected) return decided
  const events = isList(decided) ? decided : [decided]
  if (events.length === 0) return 'unchanged'
  for (const event of events)
    if (typeof event?.type !== 'string') throw new Error(`decide returns ${messageOf(event)}, which is no event`)
  return events
}

function answerOf<Answer>(ask: () => Answer): Answer {
  try {
    return ask()
  } catch (error) {
    if (error instanceof Error) throw error
    const advice = error instanceof Rejected ? ': return it' : ', which is no Error'
    throw new Error(`decide throws ${messageOf(error)}${advice}`)
  }
}

/** `Array.isArray` does not tell a list that cannot be changed from what is no list. */
function isList<Event>(decided: Event | readonly Event[]): decided is readonly Event[] {
  return Array.isArray(decided)
}
