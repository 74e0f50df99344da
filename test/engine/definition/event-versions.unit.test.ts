import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { asyncApiDocument } from '../../../src/engine/definition/asyncapi.ts'
import { checkDefinition } from '../../../src/engine/definition/check.ts'
import { define } from '../../../src/engine/definition/definition.ts'
import type { StreamDefinition } from '../../../src/engine/definition/kinds.ts'
import type { EventType, Service } from '../../../src/engine/index.ts'
import { exactJson, parseExactJson, stream } from '../../../src/engine/index.ts'
import { project, summary } from '../projector/projecting.ts'
import { foreignRecord } from '../projector/records.ts'

interface NoteAdded {
  readonly type: 'NoteAdded'
  readonly id: number | bigint
  readonly text: string
  readonly author?: string
}

const id = Type.Integer({ format: 'int64', minimum: 1, examples: [7] })
const text = Type.String({ minLength: 1, examples: ['Feed the cat'] })
const closed = { additionalProperties: false }

/*
 * A note had a `title` at first, which is `text` from version 2 on. Version 3 may have an author. The log keeps them all, and
 * whoever reads version 2 alone is told of each note that has no author.
 */
const noteAdded: EventType<NoteAdded> = {
  version: 3,
  description: 'A note was added',
  data: Type.Object({ id, text, author: Type.Optional(Type.String()) }, closed),
  examples: [
    {
      ...{ name: 'noteAdded', summary: 'By Mia', stream: 7, version: 1 },
      event: { type: 'NoteAdded', id: 7, text: 'Feed the cat', author: 'Mia' },
    },
  ],
  earlier: {
    1: {
      data: Type.Object({ id, title: Type.String() }, closed),
      upcast(data) {
        const { title, ...rest } = data as { title: string }
        return { ...rest, text: title }
      },
      examples: [
        { name: 'noteAdded1', summary: 'With a title', stream: 7, version: 1, data: { id: 7, title: 'Feed the cat' } },
      ],
    },
    2: {
      data: Type.Object({ id, text }, closed),
      downcast: (data) => ('author' in (data as object) ? undefined : (data as object)),
      examples: [
        { name: 'noteAdded2', summary: 'By nobody', stream: 7, version: 1, data: { id: 7, text: 'Feed the cat' } },
      ],
    },
  },
}

const service = (over: Partial<EventType<NoteAdded>> = {}): Service => ({
  ...{ name: 'notes', title: 'Notes', version: '1.0.0', description: 'Notes', errors: {} },
  streams: [
    stream<NoteAdded | undefined, NoteAdded, NoteAdded>({
      ...{ collection: 'notes', source: '/v1/notes', initial: undefined },
      decide: (command) => command,
      evolve: (_, { event }) => event,
      events: { NoteAdded: { ...noteAdded, ...over } },
      projections: [
        {
          ...{ name: 'notes', version: 1 },
          documents: (note) =>
            note === undefined
              ? []
              : [{ collection: 'notes', id: Number(note.id), json: exactJson({ id: note.id, text: note.text }) }],
        },
      ],
      commands: [
        {
          ...{ method: 'POST', path: '/v1/notes', scope: 'write', on: 'new', creates: 'notes', rejects: {} },
          texts: { operationId: 'addNote', summary: 'Add a note' },
          body: Type.Object({ text }, { title: 'NoteInput' }),
          command: ({ id: drawn }) => ({ type: 'NoteAdded', id: drawn, text: '' }),
        },
      ],
    }),
  ],
  resources: {
    notes: {
      ...{ path: '/v1/notes', noun: 'note', tag: { name: 'notes', description: 'Notes' } },
      schema: Type.Object({ id, text }, { title: 'Note' }),
      example: { id: 7, text: 'Feed the cat' },
      list: { operationId: 'listNotes', summary: 'List notes' },
      find: { operationId: 'getNote', summary: 'Get a note' },
      history: { operationId: 'listNoteEvents', summary: 'List the events of a note' },
    },
  },
})
const defined = (over: Partial<EventType<NoteAdded>> = {}) => {
  const definition = define(service(over))
  return { ...definition, ...(definition.kinds[0] as unknown as StreamDefinition<unknown, unknown, NoteAdded>) }
}
const definition = defined()

const note: NoteAdded = { type: 'NoteAdded', id: 7, text: 'Feed the cat' }
const context = { stream: '7', eventId: 'e', version: 1, time: '2026-11-20T09:30:00.000Z' }
const written = (event: NoteAdded, of = definition) => {
  const { type, data } = parseExactJson(of.events.encode([event], context).value) as { type: string; data: unknown }
  return [type, data]
}
/** Undefined if it is not read quickly. */
const quickly = (version: number, json: string, { events } = definition) => {
  const type = `notes.NoteAdded.v${version}`
  const quick = events.quick(type, json)
  return quick && events.decode({ type, data: undefined, quick })
}
const found = (version: number, data: unknown) => {
  const type = `notes.NoteAdded.v${version}`
  return foreignRecord({ id: 'e', type, source: '/notes', subject: '7', streamversion: 1, data })
}

describe('an event of any version', () => {
  it.each([
    [1, { id: 7, title: 'Feed the cat' }],
    [2, { id: 7, text: 'Feed the cat' }],
    [3, { id: 7, text: 'Feed the cat' }],
    [3, { id: 7, text: 'Feed the cat', author: 'Mia' }],
  ])('%i is shown as one of the newest is: %j', async (version, data) => {
    const read = await (await project([found(version, data)], [], definition as never)).read()
    expect(read).toMatchObject({
      documents: { notes: [['7', expect.stringMatching(/^{"id":7,"text":"Feed the cat"}/)]] },
      parked: [],
    })
  })

  it('keeps all digits', () => {
    const data = { id: 9007199254740993n, title: 'Feed the cat' }
    const decoded = definition.events.decode({ type: 'notes.NoteAdded.v1', data })
    expect(decoded).toEqual({ outcome: 'events', events: [{ ...note, id: 9007199254740993n }] })
    expect(written({ ...note, id: 9007199254740993n })).toEqual([
      'notes.NoteAdded.v2',
      { id: 9007199254740993n, text: note.text },
    ])
  })

  it('is read quickly where it can be', () => {
    for (const version of [1, 2, 3]) {
      const json = `{"id":7,"${version === 1 ? 'title' : 'text'}":"Feed the cat"}`
      expect(quickly(version, json)).toEqual({ outcome: 'events', events: [note] })
      expect(quickly(version, json.replace('Feed', '\\u0046eed'))).toBeUndefined()
    }
  })

  it('is what the upcast makes of it, also where the newest schema accepts it as it is', () => {
    const { 2: second } = noteAdded.earlier ?? {}
    if (second === undefined) throw new Error('there is another second version')
    const upcast = (data: unknown) => ({ ...(data as object), author: 'nobody' })
    const by = defined({ earlier: { ...noteAdded.earlier, 2: { ...second, upcast } } })
    const event = { ...note, author: 'nobody' }
    expect(quickly(2, '{"id":7,"text":"Feed the cat"}', by)).toEqual({ outcome: 'events', events: [event] })
  })

  it('is refused by the newest schema, however it is read', () => {
    const shorter = defined({ data: Type.Object({ id, text: Type.String({ maxLength: 5 }) }, closed) })
    const refused = { outcome: 'unreadable', reason: 'data: text must have at most 5 characters' }
    for (const [version, name] of [
      [1, 'title'],
      [2, 'text'],
    ] as const) {
      const json = `{"id":7,"${name}":"Feed the cat"}`
      expect(quickly(version, json, shorter)).toEqual(refused)
      expect(shorter.events.decode({ type: `notes.NoteAdded.v${version}`, data: JSON.parse(json) })).toEqual(refused)
    }
  })

  it.each([
    ['its own schema refuses the data', 2, { id: 7, title: 'Feed the cat' }, 'data: text is required'],
    ['it has what a later version has', 2, { id: 7, text: 'a', author: 'Mia' }, 'data: "author" is not allowed here'],
    ['the newest schema refuses what the upcasts make of it', 1, { id: 7, title: '' }, 'data: text must'],
    ['it is of a newer release', 4, { id: 7 }, 'type notes.NoteAdded.v4 is unknown'],
  ])('is parked where %s', async (_, version, data, reason) => {
    const { parked } = summary(await (await project([found(version, data)], [], definition as never)).read())
    expect(parked).toEqual({ 0: expect.stringContaining(reason) })
  })
})

describe('an event is written', () => {
  it('in the lowest version that says all of it', () => {
    expect(written(note)).toEqual(['notes.NoteAdded.v2', { id: 7, text: 'Feed the cat' }])
    const by = { id: 7, text: 'Feed the cat', author: 'Mia' }
    expect(written({ type: 'NoteAdded', ...by })).toEqual(['notes.NoteAdded.v3', by])
  })

  it('in none above `writes`', () => {
    const first = defined({ writes: 2 })
    expect(() => checkDefinition(first)).not.toThrow()
    expect(written(note, first)).toEqual(['notes.NoteAdded.v2', { id: 7, text: 'Feed the cat' }])
    expect(() => written({ ...note, author: 'Mia' }, first)).toThrow(
      expect.objectContaining({ code: 'event_version_not_written' }),
    )
  })
})

describe('several events in one record', () => {
  const [withAuthor, large] = [
    { ...note, author: 'Mia' },
    { ...note, id: 9007199254740993n },
  ]
  const listed = (...events: readonly NoteAdded[]) => parseExactJson(definition.events.encode(events, context).value)

  it('are written each in the lowest version that says all of it, and none above `writes`', () => {
    const { type: _, ...authored } = withAuthor
    const events = [
      { id: 'e-0', type: 'notes.NoteAdded.v2', data: { id: 7, text: note.text } },
      { id: 'e-1', type: 'notes.NoteAdded.v3', data: authored },
    ]
    const { time, stream: subject } = context
    const attributes = { specversion: '1.0', id: 'e', source: '/v1/notes', datacontenttype: 'application/json' }
    const record = { ...attributes, type: 'notes.Several.v1', subject, time, streamversion: 1, data: { events } }
    expect(listed(note, withAuthor)).toEqual(record)
    expect(() => defined({ writes: 2 }).events.encode([note, withAuthor], context)).toThrow(
      expect.objectContaining({ code: 'event_version_not_written' }),
    )
  })

  it('come back, whatever their versions, with all digits', () => {
    const { type, data } = listed(note, large, withAuthor) as { type: string; data: unknown }
    expect(definition.events.decode({ type, data })).toEqual({ outcome: 'events', events: [note, large, withAuthor] })
    const events = [
      { id: 'a', type: 'notes.NoteAdded.v1', data: { id: 7, title: note.text } },
      { id: 'b', type: 'notes.NoteAdded.v3', data: { id: 7, text: note.text, author: 'Mia' } },
    ]
    expect(definition.events.decode({ type, data: { events } })).toEqual({
      outcome: 'events',
      events: [note, withAuthor],
    })
  })

  it('are one that is alone, if it is', () => {
    expect(listed(note)).toMatchObject({ id: 'e', type: 'notes.NoteAdded.v2' })
  })
})

it('documents have every version, with its examples', () => {
  const names = ['NoteAdded', 'NoteAddedV2', 'NoteAddedV3', 'Several', 'EventDiscarded']
  const types = ['NoteAdded.v1', 'NoteAdded.v2', 'NoteAdded.v3', 'Several.v1', 'EventDiscarded.v1'].map(
    (each) => `notes.${each}`,
  )
  expect(definition.schemas.map(({ type, name }) => [type, name])).toEqual(types.map((type, i) => [type, names[i]]))
  const { channels, components } = asyncApiDocument(definition, null)
  expect(Object.keys(channels.journal.messages)).toEqual(types)
  const examples = types.map((type) => components.messages[type]?.examples)
  expect(examples.map((each) => each?.length)).toEqual([1, 1, 1, 1, 1])
  const data = examples.map((each) => each?.[0]?.payload.data)
  expect(data.slice(0, 3)).toEqual([
    { id: 7, title: 'Feed the cat' },
    { id: 7, text: 'Feed the cat' },
    { id: 7, text: 'Feed the cat', author: 'Mia' },
  ])
})

describe('a definition is refused where', () => {
  const { 1: one, 2: two } = noteAdded.earlier ?? {}
  if (!one || !two) throw new Error('there are no earlier versions')
  const [example] = noteAdded.examples
  it.each<[what: string, over: object, message: string]>([
    ['a version is missing', { earlier: { 1: one } }, 'events.NoteAdded.earlier: 2 is missing'],
    ['one is not before the newest', { earlier: { 2: two, 3: two } }, 'earlier: 3 is not before version 3'],
    ['one is no version', { earlier: { ...noteAdded.earlier, first: one } }, 'earlier: NaN is not before version 3'],
    ['what is written has no downcast', { writes: 1 }, 'writes: 1 is neither 3 nor an earlier version with a downcast'],
    ['what is written is not there', { writes: 4 }, 'writes: 4 is neither 3 nor'],
    ['a version has no example', { earlier: { 1: one, 2: { ...two, examples: [] } } }, 'there is none of version 2'],
    [
      'an example is none of its version',
      { earlier: { 1: one, 2: { ...two, examples: one.examples } } },
      'events.NoteAdded.examples: noteAdded1: data: text is required',
    ],
    [
      'an upcast makes nothing of an example',
      { earlier: { 1: { ...one, upcast: (data: unknown) => data }, 2: two } },
      'events.NoteAdded.examples: noteAdded1: data: text is required',
    ],
    [
      'a downcast loses something',
      { earlier: { 1: one, 2: { ...two, downcast: ({ author: _, ...rest }: NoteAdded) => rest } } },
      'events.NoteAdded.examples: noteAdded: it is another event when it is read',
    ],
    [
      'a downcast does not say what its own example says',
      { earlier: { 1: one, 2: { ...two, downcast: () => undefined } } },
      'events.NoteAdded.examples: noteAdded2: it is another event when it is read',
    ],
    ['an example follows nothing', { examples: [{ ...example, version: 3 }] }, 'no example of stream 7 has version 2'],
  ])('%s', (_, over, message) => expect(() => checkDefinition(defined(over))).toThrow(message))

  it('and not where all is well', () => expect(() => checkDefinition(definition)).not.toThrow())
})
