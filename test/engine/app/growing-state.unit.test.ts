import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { define } from '../../../src/engine/definition/definition.ts'
import { command, defineService, exactJson, stream } from '../../../src/engine/index.ts'
import { captureLog } from '../../lib/captured-log.ts'
import { HttpClient } from '../../lib/http-client.ts'
import { startHere } from '../../lib/start-here.ts'

interface Room {
  readonly id: number
  readonly bookings: readonly string[]
}
type RoomEvent =
  | { readonly type: 'RoomAdded'; readonly id: number; readonly note: string }
  | { readonly type: 'Booked'; readonly by: string }
type RoomCommand = { readonly add: number; readonly note: string } | { readonly book: string }

const text = Type.String({ examples: ['Mia'] })
const roomId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [7] })

/** Rooms with their bookings, which nobody counts; and a guest whom the projection cannot show. */
const { service } = defineService({
  name: 'hotel',
  title: 'Hotel',
  version: '1.0.0',
  description: 'Rooms that are booked',
  streams: [
    stream({
      collection: 'rooms',
      source: '/v1/rooms',
      initial: undefined as Room | undefined,
      stateMax: 2000,
      decide: (asked: RoomCommand): RoomEvent =>
        'add' in asked ? { type: 'RoomAdded', id: asked.add, note: asked.note } : { type: 'Booked', by: asked.book },
      evolve: (room, { event }) =>
        event.type === 'RoomAdded'
          ? { id: event.id, bookings: [] }
          : { id: room?.id ?? 0, bookings: event.by === '-' ? [] : [...(room?.bookings ?? []), event.by] },
      events: {
        RoomAdded: {
          version: 1,
          description: 'A room was added',
          data: Type.Object({ id: roomId, note: text }),
          examples: [
            {
              name: 'roomAdded',
              summary: 'Room 7',
              stream: 7,
              version: 1,
              event: { type: 'RoomAdded', id: 7, note: '' },
            },
          ],
        },
        Booked: {
          version: 1,
          description: 'A room was booked',
          data: Type.Object({ by: text }),
          examples: [
            { name: 'booked', summary: 'By Mia', stream: 7, version: 2, event: { type: 'Booked', by: 'Mia' } },
          ],
        },
      },
      projections: [
        {
          name: 'rooms',
          version: 1,
          documents(room) {
            if (room === undefined) return []
            if (room.bookings.includes('nobody')) throw new Error('nobody cannot book')
            return [
              {
                collection: 'rooms',
                id: room.id,
                json: exactJson({ id: room.id, latest: room.bookings.at(-1) ?? '' }),
              },
            ]
          },
        },
      ],
      commands: [
        command({
          method: 'POST',
          path: '/v1/rooms',
          scope: 'write',
          texts: { operationId: 'addRoom', summary: 'Add a room' },
          body: Type.Object({ note: text }, { title: 'RoomInput' }),
          on: 'new',
          creates: 'rooms',
          rejects: {},
          command: ({ id, body }): RoomCommand => ({ add: id, note: body.note }),
        }),
        command({
          method: 'PATCH',
          path: '/v1/rooms/:roomId',
          scope: 'write',
          texts: { operationId: 'bookRoom', summary: 'Book a room' },
          rejects: {},
          body: Type.Object({ by: text }, { title: 'BookingInput' }),
          on: { document: 'rooms' },
          command: ({ body }): RoomCommand => ({ book: body.by }),
        }),
      ],
    }),
  ],
  resources: {
    rooms: {
      path: '/v1/rooms',
      noun: 'room',
      tag: { name: 'rooms', description: 'Rooms' },
      schema: Type.Object({ id: roomId, latest: text }, { title: 'Room' }),
      example: { id: 7, latest: 'Mia' },
      list: { operationId: 'listRooms', summary: 'List rooms' },
      find: { operationId: 'getRoom', summary: 'Get a room' },
      history: { operationId: 'listRoomEvents', summary: 'List the events of a room' },
    },
  },
  errors: {},
})

async function open() {
  const definition = define(service)
  const { logger, lines } = captureLog()
  const client = new HttpClient(await startHere(definition, {}, logger))
  const add = (note: string, headers = {}) => client.send('POST', '/v1/rooms', { note }, headers)
  const { body } = await add('')
  const { id } = body as { id: number }
  const path = `/v1/rooms/${id}`
  return {
    ...{ lines, id, add },
    find: () => client.request(path),
    history: () => client.request(`${path}/events`),
    book: (by: string) => client.send('PATCH', path, { by }),
  }
}

it('a stream is full at its bound, and goes on: no command parks it', async () => {
  const { id, book, find, history } = await open()
  const guests = Array.from({ length: 10 }, (_, guest) => `${guest}${'x'.repeat(300)}`)
  const answers = []
  for (const guest of guests) answers.push(await book(guest))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 409, 409, 409, 409])
  expect(answers.at(-1)?.body).toMatchObject({ code: 'stream_full', message: expect.stringContaining('2000') })
  expect((await find()).body).toEqual({ id, latest: guests[5] })
  expect((await book('-')).status).toBe(200)
  expect((await book('Mia')).body).toEqual({ id, latest: 'Mia' })
  expect(await history()).toMatchObject({ body: { length: 9 } })
})

it('what makes an event that is too large is refused before it is stored, with and without a key', async () => {
  const { add, book, history } = await open()
  const long = 'x'.repeat(16_200)
  expect(await book(long)).toMatchObject({ status: 413, body: { code: 'event_too_large' } })
  for (const headers of [{}, { 'idempotency-key': '"once"' }]) {
    expect(await add(long, headers)).toMatchObject({ status: 413, body: { code: 'event_too_large' } })
    expect(await add('', headers)).toMatchObject({ status: 201 })
  }
  expect(await history()).toMatchObject({ body: { length: 1 } })
})

it('what the projection cannot show is refused, with the reason in the log, and the stream goes on', async () => {
  const { lines, book, history } = await open()
  expect(await book('nobody')).toMatchObject({ status: 500, body: { code: 'event_not_applicable' } })
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 50, err: expect.objectContaining({ message: 'nobody cannot book' }) }),
  )
  expect((await book('Mia')).status).toBe(200)
  expect(await history()).toMatchObject({ body: { length: 2 } })
})
