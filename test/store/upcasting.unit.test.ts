import { describe, expect, it } from 'vitest'
import { defineStream } from '../../src/engine/definition/definition.ts'
import { documentsOf, project, summary } from '../engine/projector/projecting.ts'
import { altered } from '../engine/projector/records.ts'
import { petstore } from './petstore.ts'
import { orderEvent, petCreated } from './records.ts'

/*
 * How the version of an event is raised. Suppose that a pet once had a `title` in place of its `name`, and before that a
 * `kind` in place of its category. Nothing writes those versions any more, but the log keeps their events for ever. Each
 * has an upcast to the next version; everything else knows the newest version alone.
 */
const { stream } = petstore
const raised = {
  ...stream.events.PetCreated,
  version: 3,
  upcasts: {
    1: (data: unknown) => {
      const { kind, ...rest } = data as { kind: unknown }
      return { ...rest, categoryId: kind, status: 'available' }
    },
    2: (data: unknown) => {
      if (typeof data !== 'object' || data === null || !('title' in data)) throw new Error('title is required')
      const { title, ...rest } = data
      return { ...rest, name: title }
    },
  },
}
const definition: typeof petstore = {
  ...petstore,
  ...defineStream('petstore', { ...stream, events: { ...stream.events, PetCreated: raised } }),
}

const pet = { id: 7, name: 'Rex', categoryId: 3, status: 'available' }
const created = (version: string, data: unknown) =>
  altered(petCreated({ id: 7 }), { type: `petstore.PetCreated.${version}`, data })

describe('an event of an earlier version', () => {
  it.each([
    ['v2', { id: 7, title: 'Rex', categoryId: 3, status: 'available' }],
    ['v1', { id: 7, title: 'Rex', kind: 3 }],
  ])('%s shows what one of the newest shows, and the stream goes on', async (version, data) => {
    const found = await project([created(version, data), orderEvent('OrderPlaced', 7, 12, 2)], [], definition)
    const newest = await project([created('v3', pet), orderEvent('OrderPlaced', 7, 12, 2)], [], definition)
    expect(documentsOf(await found.read(), 'pets')[7]).toEqual({ ...pet, status: 'pending' })
    expect(await found.read()).toMatchObject({ documents: (await newest.read()).documents, parked: [] })
  })

  it('keeps all digits', () => {
    const data = { id: 7, title: 'Rex', kind: 9007199254740993n }
    const decoded = definition.events.decode({ type: 'petstore.PetCreated.v1', data })
    expect(decoded).toMatchObject({ outcome: 'event', event: { pet: { categoryId: 9007199254740993n } } })
  })

  it.each([
    ['v2', { id: 7, name: 'Rex', categoryId: 3, status: 'available' }, 'title is required'],
    ['v2', null, 'title is required'],
    ['v2', { id: 7, title: '', categoryId: 3, status: 'available' }, 'name must be'],
    ['v1', { id: 7, title: 'Rex', kind: '3' }, 'categoryId must be an integer'],
  ])('%s is parked with data %j', async (version, data, reason) => {
    const { parked } = summary(await (await project([created(version, data)], [], definition)).read())
    expect(parked).toEqual({ 0: expect.stringContaining(reason) })
  })

  it('is parked by a release without its upcast, as one of a newer version is', async () => {
    const { parked } = summary(await (await project([created('v0', {})], [], petstore)).read())
    expect(parked).toEqual({ 0: 'type petstore.PetCreated.v0 is unknown' })
  })
})
