import type { Service } from '../door/service.ts'

/** What has to be there, by the place of what it is a member of: `*` is each member of an object, or of a list. */
const required: Readonly<Record<string, readonly string[]>> = {
  '': ['name', 'title', 'version', 'description', 'streams', 'resources', 'errors'],
  'streams.*': ['collection', 'source', 'decide', 'evolve', 'events', 'projections', 'commands'],
  'streams.*.events.*': ['version', 'description', 'data', 'examples'],
  'streams.*.events.*.examples.*': ['name', 'summary', 'stream', 'version', 'event'],
  'streams.*.projections.*': ['name', 'version', 'documents'],
  'streams.*.commands.*': ['method', 'path', 'scope', 'texts', 'on', 'rejects', 'command'],
  'streams.*.commands.*.texts': ['operationId', 'summary'],
  'errors.*': ['status', 'retry', 'meaning'],
  'resources.*': ['path', 'noun', 'tag', 'schema', 'example', 'list', 'find'],
}

/** What is forgotten, for who has no compiler: nothing else of the definition can be looked at without it. */
export function* forgottenIn(service: Service): Generator<string> {
  for (const [path, members] of Object.entries(required))
    for (const { place, value } of placesOf(path, service))
      for (const member of members)
        if (value[member] === undefined) yield `${[...place, member].join('.')}: it is missing`
}

interface Place {
  readonly place: readonly string[]
  readonly value: Readonly<Record<string, unknown>>
}

function placesOf(path: string, service: object): readonly Place[] {
  let places: readonly Place[] = [{ place: [], value: { ...service } }]
  for (const step of path === '' ? [] : path.split('.'))
    places = places.flatMap(({ place, value }) =>
      Object.entries(value)
        .filter(([name]) => step === '*' || step === name)
        .flatMap(([name, of]) => (isObject(of) ? [{ place: [...place, named(name, of)], value: { ...of } }] : [])),
    )
  return places
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** A kind of stream by its collection, and a command by its operationId, as other problems have them. */
function named(name: string, value: object): string {
  const { collection, texts } = value as { readonly collection?: string; readonly texts?: { operationId?: string } }
  return collection ?? texts?.operationId ?? name
}
