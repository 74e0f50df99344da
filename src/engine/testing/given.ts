import { isDeepStrictEqual } from 'node:util'
import { decisionOf } from '../definition/decision.ts'
import { defineStream, type StreamDefinition } from '../definition/kinds.ts'
import { Rejected } from '../door/rejected.ts'
import type { AnyEvent, Stream } from '../door/stream.ts'
import { exactJson, parseExactJson } from '../lib/values/exact-json.ts'
import { calledAs, failed, shown } from './failing.ts'
import { namesOf, readBack, type StoredStream, storedAfter } from './stored-stream.ts'

/** A stream that has some events. */
export interface Given<Command, Event extends AnyEvent, Code extends string> {
  when(command: Command): Decided<Command, Event, Code>
  /**
   * These documents, and no others, can be found of the stream: each as it was shown last, in the order in which they were
   * first shown. One that is not shown any more can be found, until it is removed.
   */
  shows(...documents: readonly object[]): void
}

/** What a command comes to. */
export interface Decided<Command, Event extends AnyEvent, Code extends string> {
  /** These events and no others, in this order. Returns the stream that has them too, in one record. */
  gives(...events: readonly [Event, ...Event[]]): Given<Command, Event, Code>
  rejected(code: Code, message?: RegExp): void
  unchanged(): void
}

/**
 * A stream that has these events, event n at n seconds past 2026-01-01T00:00:00.000Z. Each event is written and read as in
 * the log, in a record of its own, and the state after it as in the read models. Each check throws an AssertionError.
 */
export function given<State, Command, Event extends AnyEvent, Code extends string>(
  stream: Stream<State, Command, Event, Code>,
  ...events: readonly NoInfer<Event>[]
): Given<Command, Event, Code> {
  const definition: Defined<State, Command, Event> = defineStream('given', stream)
  return calledAs(given, () => {
    const empty = { state: stream.initial, row: undefined, documents: new Map() }
    const records = events.map((event) => [event])
    return withRecords(definition, { stored: empty, events: [] }, records)
  })
}

type Defined<State, Command, Event extends AnyEvent> = StreamDefinition<State, Command, Event>

interface Story<State> {
  readonly stored: StoredStream<State>
  readonly events: readonly AnyEvent[]
}

function withRecords<State, Command, Event extends AnyEvent, Code extends string>(
  definition: Defined<State, Command, Event>,
  before: Story<State>,
  records: readonly (readonly Event[])[],
): Given<Command, Event, Code> {
  const stored = records.reduce((each, events) => storedAfter(definition, each, events), before.stored)
  const story = { stored, events: [...before.events, ...records.flat()] }
  return {
    when: (command) => decidedOn(definition, story, command),
    shows: function shows(...documents) {
      calledAs(shows, () => {
        const actual = [...stored.documents.values()].map(({ json }) => parseExactJson(json))
        const expected = documents.map((document) => parseExactJson(exactJson(document)))
        if (!isDeepStrictEqual(actual, expected))
          throw failed(`other documents are shown ${behind(story)}`, { actual, expected })
      })
    },
  }
}

function decidedOn<State, Command, Event extends AnyEvent, Code extends string>(
  definition: Defined<State, Command, Event>,
  story: Story<State>,
  command: Command,
): Decided<Command, Event, Code> {
  const asked = `${shown(command)} ${behind(story)}`
  const decided = decisionOf(definition.stream, command, story.stored.state)
  const events = decided === 'unchanged' || decided instanceof Rejected ? [] : decided
  const came = (): string => {
    if (decided instanceof Rejected) return `it was rejected with ${decided.code}: ${decided.message}`
    return events.length === 0 ? 'it changed nothing' : `it gave ${events.map(shown).join(', ')}`
  }
  return {
    gives: function gives(...expected) {
      return calledAs(gives, () => {
        if (events.length === 0) throw failed(`${asked} should give ${expected.map(shown).join(', ')}, but ${came()}`)
        const [actual, read] = [events, expected].map((each) => each.map((event) => readBack(definition, event)))
        if (!isDeepStrictEqual(actual, read)) throw failed(`${asked} gave other events`, { actual, expected: read })
        return withRecords(definition, story, [events])
      })
    },
    rejected: function rejected(code, message = /^/) {
      calledAs(rejected, () => {
        if (!(decided instanceof Rejected) || decided.code !== code)
          throw failed(`${asked} should be rejected with ${code}, but ${came()}`)
        if (!message.test(decided.message))
          throw failed(`${asked} should be rejected with words like ${message}, but ${came()}`)
      })
    },
    unchanged: function unchanged() {
      calledAs(unchanged, () => {
        if (decided instanceof Rejected || events.length > 0)
          throw failed(`${asked} should change nothing, but ${came()}`)
      })
    },
  }
}

const behind = ({ events }: Story<unknown>) => `after ${namesOf(events) || 'no event'}`
