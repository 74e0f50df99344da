import { expect, it } from 'vitest'
import { library } from '../../../examples/loans/library.ts'
import { asyncApiDocument } from '../../../src/engine/definition/asyncapi.ts'
import { checkDefinition } from '../../../src/engine/definition/check.ts'
import { define } from '../../../src/engine/definition/definition.ts'
import { eventExamples } from '../../../src/engine/definition/event-examples.ts'

const { service } = library
const [stream] = service.streams
const { BookReturned, BookLent, BookAdded, LoanExtended } = stream?.events ?? {}
if (!stream || !BookReturned || !BookLent || !BookAdded || !LoanExtended) throw new Error('the library is another one')
const [returned, lent, added] = [BookReturned.examples[0], BookLent.examples[0], BookAdded.examples[0]]
if (!returned || !lent || !added) throw new Error('there are no examples')

/** Book 7 is returned, and lent to who waited for it, in one record. */
const withSeveral = (index: number) =>
  define({
    ...service,
    streams: [
      {
        ...stream,
        events: {
          ...stream.events,
          BookAdded: {
            ...BookAdded,
            examples: [added, { ...added, name: 'other', stream: 8, event: { ...added.event, id: 8 } }],
          },
          LoanExtended: { ...LoanExtended, examples: LoanExtended.examples.map((each) => ({ ...each, version: 3 })) },
          BookReturned: {
            ...BookReturned,
            examples: [
              { ...returned, index: 0 },
              { ...returned, name: 'returnedByNext', version: 5, event: { ...returned.event, loanId: 11 } },
            ],
          },
          BookLent: {
            ...BookLent,
            examples: [lent, { ...lent, name: 'lentAtOnce', version: 4, index, event: { ...lent.event, loanId: 11 } }],
          },
        },
      },
    ],
  } as typeof service)

it('several events of one record follow one another, and need the one before', () => {
  expect(() => checkDefinition(withSeveral(1))).not.toThrow()
  expect(() => checkDefinition(withSeveral(0))).toThrow(
    'events.BookLent.examples: lentAtOnce: it cannot be version 4 of its stream: the book is lent',
  )
  expect(() => checkDefinition(withSeveral(2))).toThrow('no example of stream 7 has version 4 and index 1')
})

it('documents tell them apart: by ids, and by their index', () => {
  const examples = eventExamples(withSeveral(1))
  const told = Object.fromEntries(examples.map(({ name, payload }) => [name, payload]))
  expect([told.bookReturned?.streamindex, told.lentAtOnce?.streamindex, told.bookLent]).toEqual([
    0,
    1,
    expect.not.objectContaining({ streamindex: expect.anything() }),
  ])
  const ids = ['bookAdded', 'other', 'bookLent', 'bookReturned', 'lentAtOnce'].map((name) => told[name]?.id)
  expect(new Set(ids).size).toBe(5)
  expect(told.several).toMatchObject({
    streamversion: 4,
    data: {
      events: [
        { id: told.bookReturned?.id, data: { loanId: 9 } },
        { id: told.lentAtOnce?.id, data: { loanId: 11 } },
      ],
    },
  })
  const { messages } = asyncApiDocument(withSeveral(1), 'topic').components
  expect(JSON.stringify(messages['library.BookLent.v1'])).toContain('"streamindex":1')
})
