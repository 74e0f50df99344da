import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { checkDefinition } from '../../../src/engine/definition/check.ts'
import { DefinitionError, define } from '../../../src/engine/definition/definition.ts'
import type { AnyEvent, Recorded } from '../../../src/engine/index.ts'
import { theatre } from '../theatre/theatre.ts'
import {
  addBook,
  bookLent,
  books,
  changeLoan,
  lendBook,
  loans,
  noFormat,
  refusalOf,
  resources,
  service,
  shows,
  stream,
  withBooks,
  withCommand,
  withEvent,
  withExample,
  withoutFilters,
  withStream,
} from './changed-library.ts'

it.each([theatre, define(service)])('$service.title is defined well', (definition) => {
  expect(() => checkDefinition(definition as never)).not.toThrow()
})

describe('a wrong definition is refused, and its place named', () => {
  it.each<[what: string, over: object, message: string | RegExp]>([
    ['a name of two words', { name: 'my library' }, 'name: my library must be'],
    ['no resource for the stream', withStream({ collection: 'shelves' }), 'streams: there is no resource shelves'],
    ['a source that is no path', withStream({ source: 'books' }), 'streams.books.source: books'],
    [
      'an error that is no name',
      { errors: { ...service.errors, 'book>': { status: 409, retry: 'no', meaning: 'It is.' } } },
      'errors: book> must be lower case letters, digits and _',
    ],
    [
      'a command of the engine',
      { cli: [{ name: 'verify', summary: '', run: async () => '' }] },
      'cli: the engine has the command verify',
    ],
    ['an event without an example', withEvent({ examples: [] }), 'events.BookLent.examples: there is none'],
    [
      'an example that its schema refuses',
      withExample({ event: { type: 'BookLent', loanId: 9 } }),
      'events.BookLent.examples: bookLent: data: ',
    ],
    ['an example of another type', withExample({ event: { type: 'BookAdded' } }), 'it is of the type BookAdded'],
    [
      'an example that follows nothing',
      withExample({ version: 9 }),
      'bookReserved: no example of stream 7 has version 2',
    ],
    [
      'an example that cannot follow',
      withExample({ version: 1 }),
      'events.BookLent.examples: bookLent: it cannot be version 1 of its stream: there is no such book',
    ],
    [
      'an event that is another one when it is read',
      withEvent({ read: () => ({ type: 'BookLent' }) }),
      'it is another event when it is read',
    ],
    [
      'the event of the engine',
      withStream({ events: { ...stream.events, EventDiscarded: bookLent } }),
      'events.EventDiscarded: an event cannot',
    ],
    [
      'the record of several events',
      withStream({ events: { ...stream.events, Several: bookLent } }),
      'events.Several: an event cannot',
    ],
    [
      'a state that does not come back',
      withStream({ state: { write: () => 'x', read: () => ({}) } }),
      'the state after it is another one',
    ],
    [
      'a state with an undefined member',
      withStream({ evolve: () => ({ loan: undefined }), projections: [] }),
      'the state after it is another one when it is read: state.loan is undefined, and missing then',
    ],
    [
      'a state that is a map',
      withStream({ evolve: () => new Map([[1, 2]]), projections: [] }),
      'the state after it is another one',
    ],
    [
      'an evolve that changes the state before it',
      withStream({
        evolve(state: { line: object[] }, recorded: Recorded<AnyEvent>) {
          if (recorded.event.type === 'BookReserved') state.line.push({})
          return stream.evolve(state, recorded)
        },
      }),
      'events.BookReserved.examples: bookReserved: evolve changes the state before it: return another one',
    ],
    [
      'an evolve that returns nothing',
      withStream({ evolve: () => undefined }),
      'resources.books: no example of an event leads to a document of it',
    ],
    [
      'no projection of the stream itself',
      withStream({ projections: stream.projections.slice(1) }),
      'resources.books: no example of an event leads to a document of it',
    ],
    [
      'a stream that shows what is not its own',
      shows([{ collection: 'books', id: 8, json: '{"id":8,"title":"","status":"in"}', filters: { status: 'in' } }]),
      'events.BookAdded.examples: bookAdded: stream 7 shows books 8, which is not its own id',
    ],
    [
      'documents without the value of a filter',
      withStream({ projections: stream.projections.map(withoutFilters) }),
      'resources.books.filters.status: no document that the examples lead to names its value',
    ],
    [
      'a resource that nothing shows',
      { resources: { ...resources, shelves: { ...loans, path: '/v1/shelves', noun: 'shelf' } } },
      'resources.shelves: no example of an event leads to a document of it',
    ],
    [
      'a document of no resource',
      shows([{ collection: 'shelves', id: 1, json: '{"id":1}' }]),
      'shelves, which is no resource',
    ],
    [
      'a document that its schema refuses',
      shows([{ collection: 'books', id: 7, json: '{"id":7}' }]),
      /books that its schema refuses: .*title is required/,
    ],
    [
      'a document that does not begin with its id',
      shows([{ collection: 'books', id: 7, json: '{"id":71}' }]),
      'does not begin with its id',
    ],
    [
      'a document under no value of a filter',
      shows([{ collection: 'books', id: 7, json: '{"id":7,"title":"","status":"in"}', filters: { status: 'gone' } }]),
      'under status gone',
    ],
    [
      'a document twice',
      shows(Array(2).fill({ collection: 'books', id: 7, json: '{"id":7}' })),
      'books 7 is shown twice',
    ],
    ['two resources with one path', withBooks({ path: '/v1/loans' }), 'two have the path /v1/loans'],
    ['a path outside of /v1', withBooks({ path: '/books' }), 'resources.books.path: /books must begin'],
    ['two resources with one noun', withBooks({ noun: 'loan' }), 'two have the noun loan'],
    [
      'a collection with the name of a set',
      { resources: { ...resources, keys: { ...loans, noun: 'key' } } },
      'resources.keys: the collection cannot',
    ],
    [
      'a schema without a title',
      withBooks({ schema: Type.Object({ id: Type.Integer() }) }),
      'resources.books.schema: it needs a title',
    ],
    [
      'a schema without an id',
      withBooks({ schema: Type.Object({ title: Type.String() }, { title: 'Book' }) }),
      'its first property must be id',
    ],
    [
      'an example that is no such resource',
      withBooks({ example: { id: 7 } }),
      'resources.books.example: title is required',
    ],
    [
      'a stream without a history',
      withBooks({ history: undefined }),
      'resources.books.history: the collection of a kind of stream needs it',
    ],
    [
      'a history of no stream',
      { resources: { ...resources, loans: { ...loans, history: books.history } } },
      'resources.loans.history: only',
    ],
    ['no command', withStream({ commands: [] }), 'streams.books.commands: there is none'],
    ['two operations with one id', withCommand({ texts: addBook.texts }), 'two have the operationId addBook'],
    ['a command about no resource', withCommand({ on: { document: 'shelves' } }), 'shelves, which is no resource'],
    [
      'a path that names no document',
      withCommand({ path: '/v1/loans' }),
      'commands: changeLoan.path: it must be /v1/loans/:loanId',
    ],
    ['a body without a name', withCommand({ body: Type.Object({}) }), 'commands: changeLoan.body: it needs a title'],
    [
      'a body that is no schema',
      withCommand({ body: { type: 'object', title: 'Change', propertys: {} } }),
      'commands: changeLoan.body: ',
    ],
    [
      'an unknown format, deep in a body',
      withCommand({ body: Type.Object({ dates: Type.Array(Type.Object({ at: noFormat })) }, { title: 'Change' }) }),
      'commands: changeLoan.body: unknown format "tme" at properties/dates/items/properties/at: the formats are int64, date, ',
    ],
    [
      'an unknown format in the data of an event',
      withEvent({ data: Type.Object({ due: noFormat }) }),
      'events.BookLent.examples: bookLent: data: unknown format "tme" at properties/due: ',
    ],
    [
      'an unknown format of a resource',
      withBooks({ schema: Type.Object({ ...books.schema.properties, title: noFormat }, { title: 'Book' }) }),
      'resources.books.schema: unknown format "tme" at properties/title: ',
    ],
    [
      'an unknown format of a filter',
      withBooks({ filters: { status: Type.Enum(['in', 'lent'], { type: 'string', format: 'tme' }) } }),
      'resources.books.filters.status: unknown format "tme": ',
    ],
    [
      'a rule that is no text',
      withCommand({ body: { type: 'object', title: 'Change', 'x-rule': { en: 'must be one' } } }),
      'commands: changeLoan.body: x-rule value must be',
    ],
    [
      'a body that the first start cannot show',
      withCommand({ body: Type.Object({ days: Type.Integer() }, { title: 'Change' }) }),
      'commands: changeLoan.body: days needs examples, for the documents and the first start',
    ],
    ['a command without a body', withCommand({ body: undefined }), 'commands: changeLoan.body: PATCH needs one'],
    [
      'a stream begun with a document that is not its own',
      withStream({ commands: [addBook, { ...lendBook, on: 'new' }, changeLoan] }),
      'commands: lendBook: it begins a stream of books, and creates one of loans',
    ],
    [
      'two commands with one route',
      withStream({ commands: [addBook, { ...lendBook, path: '/v1/books' }, changeLoan] }),
      'two have the method and path POST /v1/books',
    ],
    [
      'a first answer that is told otherwise again',
      withStream({
        commands: [addBook, { ...lendBook, key: { ...lendBook.key, again: () => '{"id":7}' } }, changeLoan],
      }),
      'commands: lendBook.key.again: it tells no loan: bookId is required',
    ],
    [
      'a first answer that cannot be told again',
      withStream({ commands: [addBook, { ...lendBook, key: { ...lendBook.key, again: () => '' } }, changeLoan] }),
      'commands: lendBook.key.again: ',
    ],
    ['a stream begun without a document', withCommand({ on: 'new' }), 'it begins a stream, and creates nothing'],
    ['a key that creates nothing', withCommand({ key: lendBook.key }), 'commands: changeLoan.key: it creates nothing'],
    [
      'a rejection that is no error',
      withCommand({ rejects: { lost: 'It is lost.' } }),
      'commands: changeLoan.rejects: lost is no error',
    ],
    [
      'an error that the engine has',
      { errors: { conflict: { status: 409, retry: 'no', meaning: '' } } },
      'errors: the engine has an error conflict already',
    ],
  ])('%s', (_, over, message) => expect(refusalOf(over)).toThrow(message))

  it('all at once', () => {
    const refusal = refusalOf({ name: 'My', ...withBooks({ path: '/books', example: { id: 7 } }) })
    expect(refusal).toThrow(/^name: .*\nresources\.books\.path: .*\nresources\.books\.example: .*$/)
    expect(refusal).toThrow(DefinitionError)
  })
  it('with an unknown format, too', () => {
    const unknown = Type.Object({ id: Type.Integer(), title: noFormat }, { title: 'Book' })
    expect(refusalOf({ name: 'My', ...withBooks({ schema: unknown }) })).toThrow(DefinitionError)
  })
})

describe('what is forgotten is named, for who has no compiler', () => {
  it.each<[place: string, over: object]>([
    ...['title', 'streams', 'resources', 'errors'].map((name): [string, object] => [name, { [name]: undefined }]),
    ...['source', 'decide', 'evolve', 'events', 'projections', 'commands'].map((name): [string, object] => [
      `streams.books.${name}`,
      withStream({ [name]: undefined }),
    ]),
    ['streams.0.collection', withStream({ collection: undefined })],
    ...['version', 'data', 'examples'].map((name): [string, object] => [
      `streams.books.events.BookLent.${name}`,
      withEvent({ [name]: undefined }),
    ]),
    ['streams.books.events.BookLent.examples.0.version', withExample({ version: undefined })],
    [
      'streams.books.projections.0.version',
      withStream({ projections: [{ ...stream.projections[0], version: undefined }] }),
    ],
    ...['scope', 'on', 'rejects'].map((name): [string, object] => [
      `streams.books.commands.changeLoan.${name}`,
      withCommand({ [name]: undefined }),
    ]),
    ['streams.books.commands.2.texts', withCommand({ texts: undefined })],
    ['resources.books.find', withBooks({ find: undefined })],
  ])('%s', (place, over) => {
    expect(refusalOf(over)).toThrow(DefinitionError)
    expect(refusalOf(over)).toThrow(new RegExp(`^${place}: it is missing$`, 'm'))
  })
})

it('API keys can be for reading, and for what commands name', () => {
  expect(theatre.scopes).toEqual(['read', 'write', 'bookings'])
})
