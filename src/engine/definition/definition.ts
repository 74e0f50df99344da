import type { CommandRoute } from '../door/command.ts'
import { type ErrorTable, errorTable } from '../door/errors.ts'
import type { Resource, Service } from '../door/service.ts'
import type { AnyEvent, Stream } from '../door/stream.ts'
import type { Int64 } from '../lib/values/int64.ts'
import { storedLayout } from '../read-models/document.ts'
import type { StreamId } from '../read-models/stored-texts.ts'
import { StreamNames } from '../read-models/stream-names.ts'
import { type EventCodec, eventCodec } from './event-codec.ts'
import { type EventSchema, eventSchemas } from './event-schemas.ts'
import { type StateCodec, stateCodec } from './state-codec.ts'

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
export function kindOf<Kind extends StreamDefinition>(definition: StreamKinds<Kind>, stream: StreamId): Kind {
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

/** A service, and what derives from it. It is made once, and handed down. */
export interface Definition extends StreamKinds<Kind> {
  readonly service: Service
  readonly resources: readonly NamedResource[]
  readonly commands: readonly NamedCommand[]
  readonly schemas: readonly EventSchema[]
  readonly errors: ErrorTable
  /** What API keys can be issued for, beside `operatingScope`. */
  readonly scopes: readonly string[]
  /** The version of its read models: code reads and fills only those of its own. */
  readonly version: string
}

/** A resource, with its collection and the words for it. */
export interface NamedResource extends Resource {
  readonly collection: string
  readonly called: NonNullable<Resource['called']>
  /** The parameter of paths that has the id of a document. */
  readonly idName: string
}

/** A command, with the kind of stream that it is decided on. */
export interface NamedCommand extends CommandRoute<unknown> {
  readonly kind: Kind
}

export function define(service: Service): Definition {
  const { name, streams, errors } = service
  const resources = Object.entries(service.resources).map(([collection, resource]) => {
    const { noun, called = { one: noun, several: `${noun}s` } } = resource
    return { ...resource, collection, called, idName: `${noun}Id` }
  })
  const names = new StreamNames(streams.map(({ collection }) => collection))
  const [first, ...others] = streams.map((stream): Kind => {
    const home = resources.find(({ collection }) => collection === stream.collection)
    if (home === undefined) throw new DefinitionError(`streams: there is no resource ${stream.collection}`)
    const prefix = names.prefixOf(stream.collection)
    return { ...defineStream(name, stream), home, nameOf: (id) => `${prefix}${id}` }
  })
  if (first === undefined) throw new DefinitionError('streams: there is none')
  const kinds = [first, ...others] as const
  const commands = kinds.flatMap((kind) => kind.stream.commands.map((each) => ({ ...each, kind })))
  const projections = streams.flatMap((stream) => stream.projections)
  return {
    ...streamKinds(kinds),
    service,
    resources,
    commands,
    schemas: eventSchemas(name, kinds),
    errors: errorTable(
      resources.map(({ noun }) => noun),
      errors,
    ),
    scopes: [...new Set(['read', ...commands.map(({ scope }) => scope)])],
    version: versionOf([...projections, { name: 'layout', version: storedLayout }]),
  }
}

/** The versions of projections, as one text. */
export function versionOf(projections: readonly { readonly name: string; readonly version: number }[]): string {
  return projections.map(({ name, version }) => `${name}-${version}`).join('.')
}

/** A service that cannot be run as it is defined. The message names the place. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError'
}
