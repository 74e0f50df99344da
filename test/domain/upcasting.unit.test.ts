import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { petStreams } from '../../src/store/service.ts'
import { decodeEvent } from '../../src/store/event-codec.ts'
import { Int64Schema, PetIdSchema, PetStatus } from '../../src/store/pet.ts'
import { type Upcaster, upcaster } from '../../src/store/upcasting.ts'
import { documentsOf, project, summary } from '../projector/projecting.ts'
import { altered, orderEvent, petCreated } from '../projector/records.ts'

/*
 * How the version of an event is raised. Suppose that a pet once had a `title` in place of its `name`, and before that a
 * `kind` in place of its category. Nothing writes those versions any more, but the log keeps their events for ever. Each
 * has an upcaster to the next version; all code behind `decodeEvent` knows the newest version alone.
 */
const id = PetIdSchema
const title = Type.String()
const int64 = Int64Schema({ description: 'Category' })
const closed = { additionalProperties: false }

const upcasters: ReadonlyMap<string, Upcaster> = new Map([
  [
    'petstore.PetCreated.draft',
    upcaster(Type.Object({ id, title, kind: int64 }, closed), ({ kind, ...rest }) => ({
      type: 'petstore.PetCreated.v0',
      data: { ...rest, categoryId: kind, status: 'available' },
    })),
  ],
  [
    'petstore.PetCreated.v0',
    upcaster(Type.Object({ id, title, categoryId: int64, status: PetStatus }, closed), ({ title, ...rest }) => ({
      type: 'petstore.PetCreated.v1',
      data: { ...rest, name: title },
    })),
  ],
])
const definition: typeof petStreams = { ...petStreams, decode: (event) => decodeEvent(event, upcasters) }

const pet = { id: 7, name: 'Rex', categoryId: 3, status: 'available' }
const created = (version: string, data: unknown) =>
  altered(petCreated({ id: 7 }), { type: `petstore.PetCreated.${version}`, data })

describe('an event of an earlier version', () => {
  it.each([
    ['v0', { id: 7, title: 'Rex', categoryId: 3, status: 'available' }],
    ['draft', { id: 7, title: 'Rex', kind: 3 }],
  ])('%s shows what one of the newest shows, and the stream goes on', async (version, data) => {
    const found = await project([created(version, data), orderEvent('OrderPlaced', 7, 12, 2)], [], definition)
    const newest = await project([created('v1', pet), orderEvent('OrderPlaced', 7, 12, 2)])
    expect(documentsOf(await found.read(), 'pets')[7]).toEqual({ ...pet, status: 'pending' })
    expect(await found.read()).toMatchObject({ documents: (await newest.read()).documents, parked: [] })
  })

  it('keeps all digits', () => {
    const data = { id: 7, title: 'Rex', kind: 9007199254740993n }
    const decoded = decodeEvent({ type: 'petstore.PetCreated.draft', data }, upcasters)
    expect(decoded).toMatchObject({ outcome: 'event', event: { pet: { categoryId: 9007199254740993n } } })
  })

  it.each([
    ['v0', { id: 7, name: 'Rex', categoryId: 3, status: 'available' }, 'title is required'],
    ['v0', null, 'must be object'],
    ['v0', { id: 7, title: '', categoryId: 3, status: 'available' }, 'name must be'],
    ['draft', { id: 7, title: 'Rex', kind: '3' }, 'kind must be an integer'],
  ])('%s is parked with data %j', async (version, data, reason) => {
    const { parked } = summary(await (await project([created(version, data)], [], definition)).read())
    expect(parked).toEqual({ 0: expect.stringContaining(reason) })
  })

  it('is parked by a release without its upcaster, as one of a newer version is', async () => {
    const { parked } = summary(await (await project([created('v0', {})])).read())
    expect(parked).toEqual({ 0: 'type petstore.PetCreated.v0 is unknown' })
  })
})
