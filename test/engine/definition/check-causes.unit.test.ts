import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import {
  books,
  commands,
  deleting,
  lendBook,
  members,
  problemOf,
  randomBook,
  refusalOf,
  resources,
  showsBook,
  stream,
  withBooks,
  withCommand,
  withError,
  withEvolve,
  withExample,
  withLending,
  withoutJson,
  withoutKeys,
  withStream,
} from './changed-library.ts'

describe('a wrong definition is refused by its cause alone', () => {
  it.each<[what: string, over: object, only: string]>([
    [
      'an example of another stream than the one that it follows',
      withExample({ stream: 8 }),
      'events.BookLent.examples: bookLent: no example of stream 8 has version 1\n' +
        'events.BookReserved.examples: bookReserved: no example of stream 7 has version 2',
    ],
    [
      'a place in a record of several that no example has the one before of',
      withExample({ index: 1 }),
      'events.BookLent.examples: bookLent: no example of stream 7 has version 2 and index 0',
    ],
    [
      'no version of a stream',
      withExample({ version: 0.5 }),
      'events.BookLent.examples: bookLent: version 0.5 must be an integer from 1 on',
    ],
    [
      'one example that others follow',
      withExample({ event: { type: 'BookLent', loanId: 9 } }),
      'events.BookLent.examples: bookLent: data: bookId is required; memberId is required; due is required',
    ],
    [
      'the name of a filter, once',
      showsBook({ filters: { state: 'in' } }),
      'events.BookAdded.examples: bookAdded: it shows a document of books under state: books has no such filter, but status',
    ],
    [
      'a state that asks the clock',
      withEvolve((state) => ({ ...state, at: Date.now() })),
      'events.BookAdded.examples: bookAdded: it leads to another state each time: evolve and projections may ask no clock, and for no random number',
    ],
    [
      'a document that is another one by chance',
      withStream({
        projections: [...stream.projections.slice(1), { name: 'random', version: 1, documents: randomBook }],
      }),
      'events.BookAdded.examples: bookAdded: it leads to another state each time: evolve and projections may ask no clock, and for no random number',
    ],
    [
      'a date in a state',
      withEvolve((state) => ({ ...state, at: new Date(0) })),
      "events.BookAdded.examples: bookAdded: the state after it is another one when it is read: state.at is Date 1970-01-01T00:00:00.000Z, and '1970-01-01T00:00:00.000Z' then",
    ],
    [
      'a document removed that is not that of a stream',
      withStream({ projections: [...stream.projections.slice(0, 2), withoutJson] }),
      'events.BookReserved.examples: bookReserved: reservations 11 is not the document of the stream, and cannot be removed',
    ],
    [
      'a DELETE, and no example that removes',
      withStream({ commands: [...commands, { ...deleting, on: { document: 'books' }, path: '/v1/books/:bookId' }] }),
      'commands: drop: no example of an event leads to books that are removed: show the document with `json: null` then',
    ],
    [
      'a DELETE of what cannot be removed',
      withStream({ commands: [...commands, { ...deleting, on: { document: 'loans' }, path: '/v1/loans/:loanId' }] }),
      "commands: drop: only the stream's own document can be removed: a DELETE is about one of books",
    ],
    [
      'a key, and no example under one',
      withoutKeys(commands),
      'commands: addBook.key: no example of an event has isKeyed: set it where the command makes the event',
    ],
    [
      'an example under a key, and no command that has one',
      withStream({ commands: commands.map(({ key: _, ...each }) => each) }),
      'events.BookAdded.examples: one has isKeyed, and no command of books has a key',
    ],
    [
      'no error in a status',
      withError({ status: 200 }),
      'errors.book_is_in.status: 200 must be that of an error, from 400 to 599',
    ],
    [
      'when to repeat',
      withError({ retry: 'never' }),
      'errors.book_is_in.retry: never must be no, yes, later, or a number of seconds',
    ],
    [
      'an error of a resource',
      withError({}, 'loan_not_found'),
      'errors: resources.loans has an error loan_not_found already',
    ],
    [
      'a noun of the engine',
      { resources: { ...resources, reservations: { ...resources.reservations, noun: 'route' } } },
      'resources.reservations.noun: the engine has an error route_not_found',
    ],
    [
      'a kind that is not listed',
      { resources: { ...resources, members } },
      'resources.members.history: only the collection of a kind of stream has one, and `streams` has no kind members',
    ],
    [
      'a body that is no object',
      withCommand({ body: Type.String() }),
      'commands: changeLoan.body: it must be an object',
    ],
    [
      'a path behind an id',
      withCommand({ path: '/v1/loans/:loanId/return' }),
      'commands: changeLoan.path: it must be /v1/loans/:loanId, with nothing behind the id',
    ],
    [
      'a stream that is named by a text',
      withLending({ on: { stream: () => '7' } }),
      'commands: lendBook.on.stream: "7" is no id: it must be an integer of the body',
    ],
    [
      'a number in a key',
      withLending({ key: { ...lendBook.key, content: () => [7] } }),
      'commands: lendBook.key.content: it must be texts',
    ],
    [
      'no document to be answered with',
      withLending({ creates: undefined, key: undefined }),
      'commands: lendBook: it names its stream in the body, and creates nothing that it could be answered with: say what it `creates`, or be `on` a document',
    ],
    [
      'a document created where another is in the path',
      withCommand({ creates: 'reservations' }),
      'commands: changeLoan: it creates one of reservations: name its stream in the body, `on: { stream: (body) => … }`, and no document in the path',
    ],
    [
      'a document of its own created in a stream that is there',
      withLending({ creates: 'books', key: undefined }),
      'commands: lendBook: it creates one of books, which only a new stream shows',
    ],
    [
      'an id that is a text',
      withBooks({ schema: Type.Object({ ...books.schema.properties, id: Type.Any() }, { title: 'Book' }) }),
      'resources.books.schema: id must be an integer',
    ],
  ])('%s, and nothing that only follows from it', (_, over, only) => {
    expect(problemOf(refusalOf(over))).toBe(only)
  })

  it('without what only follows from another problem', () => {
    expect(refusalOf(withExample({ version: 1 }))).not.toThrow('no example of an event leads to')
  })
})
