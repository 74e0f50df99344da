import { type EventCodec, eventCodec } from './event-codec.ts'
import { type StateCodec, stateCodec } from './state-codec.ts'
import type { AnyEvent, Stream } from './stream.ts'

/** A kind of stream, and how its events and states are written and read. */
export interface StreamDefinition<State = unknown, Command = unknown, Event extends AnyEvent = AnyEvent> {
  readonly stream: Stream<State, Command, Event>
  readonly events: EventCodec<Event>
  readonly codec: StateCodec<State>
}

export function defineStream<State, Command, Event extends AnyEvent>(
  service: string,
  stream: Stream<State, Command, Event>,
): StreamDefinition<State, Command, Event> {
  return { stream, events: eventCodec(service, stream), codec: stateCodec(stream) }
}
