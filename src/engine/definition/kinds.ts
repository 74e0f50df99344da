import type { Resource } from '../door/service.ts'
import type { AnyEvent, Document, Stream } from '../door/stream.ts'
import type { Int64 } from '../lib/values/int64.ts'
import { titleOf } from '../lib/values/named-schemas.ts'
import type { IndexKey } from '../read-models/document.ts'
import type { StreamId } from '../read-models/stored-texts.ts'
import { StreamNames } from '../read-models/stream-names.ts'
import { type EventCodec, eventCodec } from './event-codec.ts'
import { type Indexes, indexesOf } from './indexes.ts'
import { type StateCodec, stateCodec } from './state-codec.ts'

/** A kind of stream, and how its events and states are written and read. */
export interface StreamDefinition<State = unknown, Command = unknown, Event extends AnyEvent = AnyEvent> {
  readonly stream: Stream<State, Command, Event>
  readonly events: EventCodec<Event>
  readonly codec: StateCodec<State>
  /** Where the indexes have a document that it shows. */
  indexKeysOf(document: Document): readonly IndexKey[]
}

export function defineStream<State, Command, Event extends AnyEvent>(
  service: string,
  stream: Stream<State, Command, Event>,
  resources: Readonly<Record<string, Pick<NamedResource, 'indexes'>>> = {},
): StreamDefinition<State, Command, Event> {
  return {
    stream,
    events: eventCodec(service, stream),
    codec: stateCodec(stream),
    indexKeysOf: ({ collection, filters }) =>
      filters === undefined ? [] : (resources[collection]?.indexes ?? noIndexes).keysOf(filters),
  }
}

/** Where nothing is declared, each filter counts as an enumeration. */
const noIndexes = indexesOf({})

/** The kinds of streams of a service, and what the name of a stream says. */
export interface StreamKinds<Kind extends StreamDefinition = StreamDefinition> {
  readonly kinds: readonly [Kind, ...Kind[]]
  readonly names: StreamNames
  /** The kind of a stream, by its name; as `StreamNames.kindOf`. */
  kindOf(stream: StreamId): Kind | 'newer' | undefined
}

export function streamKinds<Kind extends StreamDefinition>(kinds: readonly [Kind, ...Kind[]]): StreamKinds<Kind> {
  const names = new StreamNames(kinds.map(({ stream }) => stream.collection))
  return {
    kinds,
    names,
    kindOf(stream) {
      const found = names.kindOf(stream)
      return typeof found === 'number' ? kinds[found] : found
    },
  }
}

/** The kind of a stream: the first one stands for a kind that is not known, of whose streams nothing is applied. */
export function kindOrFirst<Kind extends StreamDefinition>(definition: StreamKinds<Kind>, stream: StreamId): Kind {
  const kind = definition.kindOf(stream)
  return typeof kind === 'object' ? kind : definition.kinds[0]
}

/** A kind of stream of a service that is run. */
export interface Kind extends StreamDefinition {
  /** The resource that its streams are. */
  readonly home: NamedResource
  /** The name of a stream, as documents have it for an id: `categories/7`. */
  nameOf(id: Int64 | string): StreamId
}

/** A resource, with its collection and the words for it. */
export interface NamedResource extends Resource {
  readonly collection: string
  readonly called: NonNullable<Resource['called']>
  readonly indexes: Indexes
  /** The parameter of paths that has the id of a document. */
  readonly idName: string
}

/** The name in documents of how many there are by a value. */
export function countsTitle({ schema }: Pick<Resource, 'schema'>): string {
  return `${titleOf(schema)}Counts`
}
