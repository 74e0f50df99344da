import { Type } from 'typebox'
import { define } from '../../src/engine/definition/definition.ts'
import { command, exactJson, stream } from '../../src/engine/index.ts'
import { type AnyRecord, type EventContext, writtenBy } from './projector/records.ts'
import { idSchema } from './theatre/seats.ts'
import { theatre } from './theatre/theatre.ts'

export type HallEvent =
  | { readonly type: 'HallBuilt'; readonly id: number; readonly name: string }
  | { readonly type: 'HallClosed'; readonly id: number }

interface Hall {
  readonly id: number
  readonly name: string
  readonly isClosed?: true
}

const name = Type.String({ minLength: 1, examples: ['Large'] })

const buildHall = command({
  method: 'POST',
  path: '/v1/halls',
  scope: 'write',
  texts: { operationId: 'buildHall', summary: 'Build a hall' },
  body: Type.Object({ name }, { title: 'HallInput', additionalProperties: false }),
  on: 'new',
  creates: 'halls',
  rejects: {},
  command: ({ id, body }): HallEvent => ({ type: 'HallBuilt', id, name: body.name }),
  key: {
    text: 'get the hall of the first',
    content: ({ name }) => [name],
    again: ({ id }, { name }) => exactJson({ id, name }),
  },
})

const closeHall = command({
  method: 'DELETE',
  path: '/v1/halls/:hallId',
  scope: 'write',
  texts: { operationId: 'closeHall', summary: 'Close a hall' },
  on: { document: 'halls' },
  rejects: {},
  command: ({ id }): HallEvent => ({ type: 'HallClosed', id }),
})

/** A second kind of stream, whose events show what no seat is: a document of their own, and nothing else. */
export const hallStream = stream({
  collection: 'halls',
  source: '/v1/halls',
  initial: null,
  decide: (event: HallEvent, hall: Hall | null): HallEvent | 'unchanged' =>
    event.type === 'HallClosed' && hall?.isClosed ? 'unchanged' : event,
  evolve(hall, { event }): Hall {
    if (event.type === 'HallBuilt') {
      if (hall !== null) throw new Error(`hall ${hall.id} is built`)
      return { id: event.id, name: event.name }
    }
    if (hall === null) throw new Error('there is no such hall')
    return { ...hall, isClosed: true }
  },
  events: {
    HallBuilt: {
      version: 1,
      description: 'A hall was built',
      data: Type.Object({ id: idSchema('The hall'), name }),
      examples: [
        {
          ...{ name: 'hallBuilt', summary: 'Hall 7', stream: 7, version: 1, isKeyed: true },
          event: { type: 'HallBuilt', id: 7, name: 'Large' },
        },
      ],
    },
    HallClosed: {
      version: 1,
      description: 'A hall was closed for good',
      data: Type.Object({ id: idSchema('The hall') }),
      examples: [
        { name: 'hallClosed', summary: 'Hall 7', stream: 7, version: 2, event: { type: 'HallClosed', id: 7 } },
      ],
    },
  },
  projections: [
    {
      name: 'halls',
      version: 1,
      documents: (hall) => {
        if (hall === null) return []
        const { id, name, isClosed } = hall
        return [{ collection: 'halls', id, json: isClosed ? null : exactJson({ id, name }) }]
      },
    },
  ],
  commands: [buildHall, closeHall],
})

const { service } = theatre

/** The theatre with its halls: two kinds of streams. */
export const twoKinds = define({
  ...service,
  streams: [...service.streams, hallStream],
  resources: {
    ...service.resources,
    halls: {
      path: '/v1/halls',
      noun: 'hall',
      tag: { name: 'halls', description: 'The halls of the house' },
      schema: Type.Object({ id: idSchema('The hall'), name }, { title: 'Hall' }),
      example: { id: 7, name: 'Large' },
      list: { operationId: 'listHalls', summary: 'List all halls' },
      find: { operationId: 'getHall', summary: 'Get a hall' },
      history: { operationId: 'listHallEvents', summary: 'List the events of a hall' },
    },
  },
})

const written = writtenBy((event: HallEvent, context: EventContext) => {
  const [, kind] = twoKinds.kinds
  if (kind === undefined) throw new Error('halls are no kind')
  return kind.events.encode([event], { stream: `halls/${event.id}`, ...context })
})

/** The record of an event of a hall, which is called by its id. */
export function hallEvent(type: HallEvent['type'], id: number, over: Partial<EventContext> = {}): AnyRecord {
  return written(type === 'HallBuilt' ? { type, id, name: `hall ${id}` } : { type, id }, over)
}
