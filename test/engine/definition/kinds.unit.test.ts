import { describe, expect, it } from 'vitest'
import { checkDefinition } from '../../../src/engine/definition/check.ts'
import { define } from '../../../src/engine/definition/definition.ts'
import type { Service } from '../../../src/engine/index.ts'
import { hallStream, twoKinds } from '../two-kinds.ts'

const { service } = twoKinds as unknown as { readonly service: Service }
const [seats, halls] = service.streams
const [buildHall, closeHall] = hallStream.commands
if (!seats || !halls || !buildHall || !closeHall) throw new Error('the theatre is another one')

const refusalOf = (streams: readonly object[]) => () => checkDefinition(define({ ...service, streams } as Service))
const withHalls = (over: object) => [seats, { ...halls, ...over }]
const withSeats = (over: object) => [{ ...seats, ...over }, halls]

it('a service of two kinds is defined well', () => expect(refusalOf([seats, halls])).not.toThrow())

describe('what one kind has of another is refused, and its place named', () => {
  it.each<[what: string, streams: readonly object[], message: string]>([
    ['no kind', [], 'streams: there is none'],
    ['a kind twice', [seats, seats], 'two have the collection of a kind of stream seats'],
    ['two kinds with one source', withHalls({ source: seats.source }), `two have the stream.source ${seats.source}`],
    ['two kinds with one event', withSeats({ events: { ...seats.events, ...halls.events } }), 'the event HallBuilt'],
    [
      'two kinds with one projection',
      withSeats({ projections: [...seats.projections, ...halls.projections] }),
      'two have the projection halls',
    ],
    [
      'a command about a document of another kind',
      withSeats({ commands: [...seats.commands, closeHall] }),
      'commands: closeHall: it is about one of halls, which is a stream of another kind',
    ],
    [
      'a command that begins a stream of another kind',
      withSeats({ commands: [...seats.commands, buildHall] }),
      'commands: buildHall: it creates one of halls, which only a stream of that kind shows',
    ],
    [
      'a document of another kind',
      withHalls({
        projections: [
          { name: 'halls', version: 1, documents: () => [{ collection: 'seats', id: 7, json: '{"id":7}' }] },
        ],
      }),
      'events.HallBuilt.examples: hallBuilt: it shows a document of seats, which only a stream of that kind shows',
    ],
  ])('%s', (_, streams, message) => expect(refusalOf(streams)).toThrow(message))
})
