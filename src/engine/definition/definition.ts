import { hash } from 'node:crypto'
import type { CommandRoute } from '../door/command.ts'
import { type ErrorTable, errorTable } from '../door/errors.ts'
import type { Service } from '../door/service.ts'
import { storedLayout } from '../read-models/document.ts'
import { StreamNames } from '../read-models/stream-names.ts'
import { forgottenIn } from './check-members.ts'
import { type EventSchema, eventSchemas } from './event-schemas.ts'
import { declaredIndexes, indexesOf } from './indexes.ts'
import { defineStream, type Kind, type NamedResource, type StreamKinds, streamKinds } from './kinds.ts'

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

/** A command, with the kind of stream that it is decided on. */
export interface NamedCommand extends CommandRoute<unknown> {
  readonly kind: Kind
}

export function define(service: Service): Definition {
  const forgotten = [...forgottenIn(service)]
  if (forgotten.length > 0) throw new DefinitionError(forgotten.join('\n'))
  const { name, streams, errors } = service
  const resources = Object.entries(service.resources).map(([collection, resource]) => {
    const { noun, called = { one: noun, several: `${noun}s` } } = resource
    return { ...resource, collection, called, idName: `${noun}Id`, indexes: indexesOf(resource) }
  })
  const byCollection = Object.fromEntries(resources.map((resource) => [resource.collection, resource]))
  const names = new StreamNames(streams.map(({ collection }) => collection))
  const [first, ...others] = streams.map((stream): Kind => {
    const home = resources.find(({ collection }) => collection === stream.collection)
    if (home === undefined) throw new DefinitionError(`streams: there is no resource ${stream.collection}`)
    const prefix = names.prefixOf(stream.collection)
    return { ...defineStream(name, stream, byCollection), home, nameOf: (id) => `${prefix}${id}` }
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
    version: readModelVersion(projections, declaredIndexes(byCollection)),
  }
}

/** An index that is declared is built with all else, beside the read models that lack it. */
function readModelVersion(projections: Parameters<typeof versionOf>[0], indexes: string): string {
  const version = versionOf([...projections, { name: 'layout', version: storedLayout }])
  return indexes === '' ? version : `${version}.indexes-${hash('sha256', indexes).slice(0, 8)}`
}

/** The versions of projections, as one text. */
export function versionOf(projections: readonly { readonly name: string; readonly version: number }[]): string {
  return projections.map(({ name, version }) => `${name}-${version}`).join('.')
}

/** A service that cannot be run as it is defined. The message names the place. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError'
}
