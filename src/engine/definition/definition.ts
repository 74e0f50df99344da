import { type ErrorTable, errorTable } from '../door/errors.ts'
import type { Resource, Service } from '../door/service.ts'
import type { AnyEvent, Stream } from '../door/stream.ts'
import { storedLayout } from '../read-models/document.ts'
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

/** A service, and what derives from it. It is made once, and handed down. */
export interface Definition extends StreamDefinition {
  readonly service: Service
  readonly resources: readonly NamedResource[]
  /** The resource that streams are. */
  readonly home: NamedResource
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

export function define(service: Service): Definition {
  const { name, stream, commands, errors } = service
  const defined = defineStream(name, stream)
  const resources = Object.entries(service.resources).map(([collection, resource]) => {
    const { noun, called = { one: noun, several: `${noun}s` } } = resource
    return { ...resource, collection, called, idName: `${noun}Id` }
  })
  const home = resources.find(({ collection }) => collection === stream.collection)
  if (home === undefined) throw new DefinitionError(`stream: there is no resource ${stream.collection}`)
  const nouns = resources.map(({ noun }) => noun)
  return {
    ...defined,
    service,
    resources,
    home,
    schemas: eventSchemas(name, home.noun, stream.source, defined.events.versions),
    errors: errorTable(nouns, errors),
    scopes: [...new Set(['read', ...commands.map(({ scope }) => scope)])],
    version: versionOf([...stream.projections, { name: 'layout', version: storedLayout }]),
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
