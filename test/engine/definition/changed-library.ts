import { Type } from 'typebox'
import { library } from '../../../examples/loans/library.ts'
import { checkDefinition } from '../../../src/engine/definition/check.ts'
import { define } from '../../../src/engine/definition/definition.ts'
import type { AnyEvent, Projection, Recorded, Service } from '../../../src/engine/index.ts'

function found<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('the library is another one')
  return part
}

export const { service } = library
export const { resources } = service
export const stream = found(service.streams[0])
export const { commands } = stream
export const [books, loans] = [found(resources.books), found(resources.loans)]
const [first, second, third] = commands
export const [addBook, lendBook, changeLoan] = [found(first), found(second), found(third)]
export const bookLent = found(stream.events.BookLent)

export const refusalOf = (over: Partial<Service>) => () => checkDefinition(define({ ...service, ...over }))
export const withStream = (over: object) => ({ streams: [{ ...stream, ...over }] })
export const withEvent = (over: object) =>
  withStream({ events: { ...stream.events, BookLent: { ...bookLent, ...over } } })
export const withExample = (over: object) => withEvent({ examples: [{ ...bookLent.examples[0], ...over }] })
export const withBooks = (over: object) => ({ resources: { ...resources, books: { ...books, ...over } } })
export const withCommand = (over: object) => withStream({ commands: [addBook, lendBook, { ...changeLoan, ...over }] })
export const noFormat = Type.String({ format: 'tme' })
export const shows = (documents: readonly object[]) =>
  withStream({ projections: [{ name: 'books', version: 1, documents: () => documents }] })
export const withoutFilters = ({ documents, ...projection }: Projection<unknown>) => ({
  ...projection,
  documents: (state: unknown) => documents(state).map(({ filters: _, ...document }) => document),
})

export const showsBook = (over: object) => {
  const [first, ...others] = stream.projections
  const documents = (state: unknown) => (first?.documents(state) ?? []).map((document) => ({ ...document, ...over }))
  return withStream({ projections: [{ ...first, documents }, ...others] })
}
export const withEvolve = (change: (state: object) => object) =>
  withStream({ evolve: (state: object, of: Recorded<AnyEvent>) => change(stream.evolve(state, of) as object) })
export const randomBook = () => [
  {
    ...{ collection: 'books', id: 7, filters: { status: 'in' } },
    json: `{"id":7,"title":"${Math.random()}","status":"in"}`,
  },
]
export const withoutJson: Projection<unknown> = {
  ...{ name: 'reservations', version: 1 },
  documents: (state) => (stream.projections[2]?.documents(state) ?? []).map((each) => ({ ...each, json: null })),
}
export const deleting = {
  method: 'DELETE',
  scope: 'write',
  texts: { operationId: 'drop', summary: 'Drop it' },
  rejects: {},
  command: () => ({}),
}
export const withoutKeys = (all: typeof commands) => {
  const events = Object.entries(stream.events).map(([name, type]) => {
    const examples = type.examples.map(({ isKeyed: _, ...example }) => example)
    return [name, { ...type, examples }]
  })
  return withStream({ commands: all, events: Object.fromEntries(events) })
}
export const withError = (over: object, code = 'book_is_in') => ({
  errors: { ...service.errors, [code]: { ...service.errors.book_is_in, ...over } },
})
export const members = {
  ...{ ...loans, path: '/v1/members', noun: 'member', filters: {}, together: [], history: books.history },
  ...{
    schema: Type.Object({ id: Type.Integer() }, { title: 'Member' }),
    list: { operationId: 'a' },
    find: { operationId: 'b' },
  },
  history: { operationId: 'c', summary: 'What happened' },
}
export const withLending = (over: object) =>
  withStream({ commands: [addBook, { ...lendBook, ...over }, ...commands.slice(2)] })
export const problemOf = (act: () => unknown): string => {
  try {
    act()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
