import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IdTakenError } from '../../src/engine/index.ts'
import { given } from '../../src/engine/testing/index.ts'
import type { OrderEvent, PetEvent } from '../../src/store/events.ts'
import { type OrderId, type OrderStatus, orderStatuses } from '../../src/store/order.ts'
import { type Pet, type PetChange, type PetId, type PetStatus, petDocument, petStatuses } from '../../src/store/pet.ts'
import { type PetCommand, petState, utc } from '../../src/store/pet-stream.ts'
import { petStream } from '../../src/store/service.ts'
import { anyPet } from './any-pet.ts'
import { hiddenOf, petstore } from './petstore.ts'

const petId = 7 as PetId
const rex = { name: 'Rex', categoryId: 7 }

const petCreated = (status: PetStatus = 'available'): PetEvent => {
  return { type: 'PetCreated', pet: { id: petId, ...rex, status } }
}
const about = (type: OrderEvent['type']) => {
  return (order: number, pet: number = petId) => ({ type, orderId: order as OrderId, petId: pet as PetId }) as const
}
const orderPlaced = about('OrderPlaced')
const orderApproved = about('OrderApproved')
const orderDelivered = about('OrderDelivered')
const orderCancelled = about('OrderCancelled')

const createPet = (status: PetStatus = 'available'): PetCommand => {
  return { type: 'createPet', id: petId, newPet: { ...rex, status } }
}
const changePet = (change: PetChange): PetCommand => ({ type: 'changePet', id: petId, change })
const petChanged = (change: Partial<Pet>, status: PetStatus = 'available'): PetEvent => {
  return { type: 'PetChanged', pet: { id: petId, ...rex, ...change, status } }
}
const changedOther: PetEvent = { type: 'PetChanged', pet: { id: 8 as PetId, ...rex, status: 'available' } }
const removePet: PetCommand = { type: 'removePet', id: petId }
const petRemoved: PetEvent = { type: 'PetRemoved', petId }

const placeOrder = (order: number): PetCommand => ({ type: 'placeOrder', orderId: order as OrderId, petId })
const updateOrder = (order: number, status: OrderStatus): PetCommand => {
  return { type: 'updateOrder', orderId: order as OrderId, status }
}

const kind = { description: 'Likes children' }
const many = { categoryId: 9007199254740993n }
const placed = [petCreated(), orderPlaced(12)]
const approved = [...placed, orderApproved(12)]
const delivered = [...approved, orderDelivered(12)]
const cancelled = [...placed, orderCancelled(12)]
/** Order 12 is cancelled, and the pet has another one. */
const followed = [...cancelled, orderPlaced(13)]

/** As it is after the second event, and since then. */
const orderShown = (status: OrderStatus, updated: number) => {
  const at = (version: number) => `2026-01-01T00:00:0${version}.000Z`
  return { id: 12, petId, status, placedAt: at(2), updatedAt: at(updated) }
}

const error = (code: Code, message = /./) => ({ code, message })

type Code = Extract<ReturnType<typeof petStream.decide>, { readonly code: unknown }>['code']
type Expected = PetEvent | 'unchanged' | ReturnType<typeof error>
type Specification = [what: string, given: readonly PetEvent[], when: PetCommand, expected: Expected]

function specify(specifications: readonly Specification[]): void {
  it.each(specifications)('%s', (_, events, command, expected) => expectOf(events, command, expected))
}

function expectOf(events: readonly PetEvent[], command: PetCommand, expected: Expected): void {
  const decided = given(petStream, ...events).when(command)
  if (expected === 'unchanged') decided.unchanged()
  else if ('type' in expected) decided.gives(expected)
  else decided.rejected(expected.code, expected.message)
}

describe('a pet', () => {
  const added = petStatuses.map(
    (status): Specification => [`is created as ${status}`, [], createPet(status), petCreated(status)],
  )
  specify([...added, ['is created once', [petCreated()], createPet(), error('conflict')]])
})

describe('a pet can be changed', () => {
  const [max, removed] = [{ name: 'Max' }, [petCreated(), petRemoved]]
  specify([
    ['its name', [petCreated()], changePet(max), petChanged(max)],
    ['its category', [petCreated()], changePet({ categoryId: -1 }), petChanged({ categoryId: -1 })],
    ['both, again and again', [petCreated(), petChanged(max)], changePet(rex), petChanged(rex)],
    ['while it is ordered, which it stays', placed, changePet(max), petChanged(max, 'pending')],
    ['once it is sold', delivered, changePet(max), petChanged(max, 'sold')],
    ['what there is to say of it', [petCreated()], changePet(kind), petChanged(kind)],
    ['and nothing else with it', [petCreated(), petChanged(kind)], changePet(max), petChanged({ ...max, ...kind })],
    ['which can be removed', [petCreated(), petChanged(kind)], changePet({ description: null }), petChanged({})],
    ['but not where there is none', [petCreated()], changePet({ description: null }), 'unchanged'],
    ['nor twice', [petCreated(), petChanged(kind)], changePet(kind), 'unchanged'],
    ['but not to what it is', [petCreated()], changePet(rex), 'unchanged'],
    ['nor to what it is by a change', [petCreated(), petChanged(max)], changePet(max), 'unchanged'],
    ['nor to all digits that it has', [petCreated(), petChanged(many)], changePet(many), 'unchanged'],
    ['but not one that is not there', [], changePet(max), error('pet_not_found')],
    ['nor one that is gone', removed, changePet(max), error('pet_not_found')],
  ])
})

describe('a pet can be removed', () => {
  const [removed, ordered] = [[petCreated(), petRemoved], error('pet_is_ordered', /order 12 holds it/)]
  specify([
    ['as it was created', [petCreated()], removePet, petRemoved],
    ['whatever it was created as', [petCreated('pending')], removePet, petRemoved],
    ['once its order is delivered', delivered, removePet, petRemoved],
    ['once its order is cancelled', cancelled, removePet, petRemoved],
    ['but not while an order is placed', placed, removePet, ordered],
    ['nor while it is approved', approved, removePet, ordered],
    ['and once more, which changes nothing', removed, removePet, 'unchanged'],
    ['but not one that is not there', [], removePet, error('pet_not_found')],
    ['and not created again', removed, createPet(), error('conflict')],
    ['and not ordered', removed, placeOrder(13), error('unknown_pet', /pet 7\b/)],
    ['and its order stays what it was', [...delivered, petRemoved], updateOrder(12, 'delivered'), 'unchanged'],
    ['for good', [...delivered, petRemoved], updateOrder(12, 'cancelled'), error('order_transition_invalid')],
  ])

  it('without its order', () => given(petStream, ...delivered, petRemoved).shows(orderShown('delivered', 4)))
})

describe('an available pet can be ordered', () => {
  specify([
    ['as it was created', [petCreated()], placeOrder(12), orderPlaced(12)],
    ['again once its order is cancelled', cancelled, placeOrder(13), orderPlaced(13)],
    ['but not one that is not there', [], placeOrder(12), error('unknown_pet', /pet 7\b/)],
  ])
  for (const status of ['pending', 'sold'] as const) {
    const refused = error('pet_not_available', RegExp(`added as ${status}`))
    specify([[`but not one that was created as ${status}`, [petCreated(status)], placeOrder(12), refused]])
  }
  for (const [status, events] of Object.entries({ placed, approved, delivered })) {
    const refused = error('pet_not_available', /order 12 holds it/)
    specify([[`but not one whose order is ${status}, which the error names`, events, placeOrder(13), refused]])
  }
})

const orders: Readonly<Record<OrderStatus | 'followed', readonly PetEvent[]>> = {
  placed,
  approved,
  delivered,
  cancelled,
  followed,
}
const eventTo: Readonly<Record<string, PetEvent>> = {
  ...{ approved: orderApproved(12), delivered: orderDelivered(12), cancelled: orderCancelled(12) },
}

/**
 * What comes of an update of order 12, by its status and the status asked for: it stays as it is (=), is refused (409), or
 * there is the event that leads to a status. `followed` was cancelled before order 13 was placed.
 */
const outcomes: Readonly<Record<keyof typeof orders, string>> = {
  placed: '=          approved   409        cancelled',
  approved: '409        =          delivered  cancelled',
  delivered: '409        409        =          409',
  cancelled: '409        409        409        =',
  followed: '409        409        409        =',
}
const updates = (Object.keys(orders) as (keyof typeof orders)[]).flatMap((order) => {
  const row = outcomes[order].split(/ +/)
  return orderStatuses.map((status, i) => [order, status, row[i] ?? 'nothing that is said here'] as const)
})

describe('an order', () => {
  const [notFound, invalid] = [error('order_not_found', /order 12\b/), 'order_transition_invalid' as const]
  specify([
    ['that nobody placed cannot be updated, of no pet', [], updateOrder(12, 'approved'), notFound],
    ['that nobody placed cannot be updated', [petCreated()], updateOrder(12, 'approved'), notFound],
    [
      'cannot get a status that does not follow its own, and the error names both',
      placed,
      updateOrder(12, 'delivered'),
      error(invalid, /12 is placed and cannot become delivered/),
    ],
    [
      'stays cancelled when another one was placed since, and the error says so',
      followed,
      updateOrder(12, 'approved'),
      error(invalid, /12 is cancelled/),
    ],
    ['that was placed since goes on', followed, updateOrder(13, 'approved'), orderApproved(13)],
  ])

  it.each(updates)('that is %s is to be %s: %s', (order, asked, expected) => {
    const outcomes: Readonly<Record<string, Expected>> = { '=': 'unchanged', 409: error(invalid), ...eventTo }
    const outcome = outcomes[expected]
    expectOf(orders[order], updateOrder(12, asked), outcome ?? expect.fail(`no outcome is called ${expected}`))
  })

  // The state has the latest order alone, and an earlier one is what it has to be: cancelled.
  it.each(orderStatuses)('that is %s stays so for a command, also once its pet is ordered again', (status) => {
    const since = status === 'cancelled' ? orders.followed : orders[status]
    given(petStream, ...since)
      .when(updateOrder(12, status))
      .unchanged()
  })
})

describe('what happened', () => {
  const told: Readonly<Record<OrderStatus, [PetStatus, ...PetEvent[]]>> = {
    placed: ['pending'],
    approved: ['pending', orderApproved(12)],
    delivered: ['sold', orderApproved(12), orderDelivered(12)],
    cancelled: ['available', orderCancelled(12)],
  }

  it.each(orderStatuses)('is told by order and pet: an order that is %s', (status) => {
    const [petStatus, ...events] = told[status]
    const pet = { id: petId, ...rex, status: petStatus }
    given(petStream, petCreated(), orderPlaced(12), ...events).shows(pet, orderShown(status, 2 + events.length))
  })

  it('has the times of the events in UTC, and never goes back', () => {
    const placed = { event: orderPlaced(12), version: 2, time: '2026-11-20T10:30:00+01:00' }
    const earlier = { event: orderApproved(12), version: 3, time: '2026-11-20T09:29:59Z' }
    const created = petStream.evolve(undefined, { event: petCreated(), version: 1, time: placed.time })
    const state = petStream.evolve(petStream.evolve(created, placed), earlier)
    const at = '2026-11-20T09:30:00.000Z'
    expect(state?.order).toMatchObject({ status: 'approved', placedAt: at, updatedAt: at })
  })

  it.each(['', 'yesterday', '+010000-01-01T00:00:00Z', '-000001-01-01T00:00:00Z'])('is not at the time %j', (time) => {
    expect(() => utc(time)).toThrow('not a time')
  })

  it.each<[string, PetEvent[], PetEvent, RegExp]>([
    ['a second creation', [petCreated()], petCreated(), /pet 7 exists already/],
    ['an order of no pet', [], orderPlaced(12), /no pet 7/],
    ['an order of another pet', [petCreated()], orderPlaced(12, 8), /about pet 8/],
    ['an order of a sold pet', [petCreated('sold')], orderPlaced(12), /pet 7 is sold/],
    ['a second order', placed, orderPlaced(13), /pet 7 is pending/],
    ['an event without its order', [petCreated()], orderApproved(12), /order 12 is not the latest/],
    ['an event of an earlier order', [...cancelled, orderPlaced(13)], orderApproved(12), /12 is not the latest/],
    ['a delivery that was not approved', placed, orderDelivered(12), /12 is placed/],
    ['a change of no pet', [], petChanged({}), /no pet 7/],
    ['a change of another pet', [petCreated()], changedOther, /about pet 8/],
    ['a removal of no pet', [], petRemoved, /no pet 7/],
    ['a removal of another pet', [petCreated()], { type: 'PetRemoved', petId: 8 as PetId }, /about pet 8/],
    ['a change of the status', placed, petChanged({}), /pet 7 is pending, not available/],
    ['a removal of an ordered pet', placed, petRemoved, /order 12 holds pet 7/],
    ['a second removal', [petCreated(), petRemoved], petRemoved, /pet 7 is removed/],
    ['a change of a removed pet', [petCreated(), petRemoved], petChanged({}), /pet 7 is removed/],
    ['an order of a removed pet', [petCreated(), petRemoved], orderPlaced(12), /pet 7 is removed/],
    ['a second creation of a removed pet', [petCreated(), petRemoved], petCreated(), /pet 7 exists already/],
    ['a transition from a final status', cancelled, orderApproved(12), /12 is cancelled/],
  ])('cannot be %s', (_, events, event, reason) => {
    given(petStream, ...events)
    expect(() => given(petStream, ...events, event)).toThrow(reason)
  })

  it('cannot be an order that was cancelled before: its id is taken', () => {
    expect(() => given(petStream, ...cancelled, orderPlaced(12))).toThrow(
      expect.objectContaining({ cause: expect.any(IdTakenError) }),
    )
  })

  it('is kept in the document of the pet, as long as there is one, and behind it', () => {
    const time = fc.integer({ min: 0, max: 253_402_300_799_999 }).map((ms) => new Date(ms).toISOString())
    const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).map((id) => id as OrderId)
    const order = fc.record({ id, status: fc.constantFrom(...orderStatuses), placedAt: time, updatedAt: time })
    const state = fc.record({ pet: anyPet, order: fc.option(order, { nil: undefined }), isRemoved: fc.boolean() })
    fc.assert(
      fc.property(state, ({ pet, order, isRemoved }) => {
        const removed = isRemoved ? ({ isRemoved } as const) : {}
        const kept = { pet, order: order && { ...order, petId: pet.id }, ...removed }
        const document = isRemoved ? undefined : petDocument(pet)
        const read = petstore.codec.read({ document, hidden: hiddenOf(kept) })
        expect(read).toEqual(kept)
        expect(petState.write(kept, document)).toBe(petState.write(kept))
      }),
    )
    expect(petstore.codec.read({ document: undefined, hidden: hiddenOf(undefined) })).toBeUndefined()
  })
})
