import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Rejected } from '../../src/command-handling/decider.ts'
import type { OrderEvent, PetEvent } from '../../src/domain/events.ts'
import { type OrderId, type OrderStatus, orderStatuses } from '../../src/domain/order.ts'
import { type PetId, type PetStatus, petDocument } from '../../src/domain/pet.ts'
import { type PetCommand, type PetState, petDecider, petStateCodec, utc } from '../../src/domain/pet-stream.ts'
import type { ErrorCode } from '../../src/lib/errors.ts'
import { anyPet } from './any-pet.ts'

const petId = 7 as PetId
const rex = { name: 'Rex', categoryId: 7 }

const petCreated = (status: PetStatus = 'available'): PetEvent => ({
  type: 'PetCreated',
  pet: { id: petId, ...rex, status },
})
const about =
  (type: OrderEvent['type']) =>
  (order: number, pet: number = petId) =>
    ({ type, orderId: order as OrderId, petId: pet as PetId }) as const
const orderPlaced = about('OrderPlaced')
const orderApproved = about('OrderApproved')
const orderDelivered = about('OrderDelivered')
const orderCancelled = about('OrderCancelled')

const createPet = (status: PetStatus = 'available'): PetCommand => ({
  type: 'createPet',
  id: petId,
  newPet: { ...rex, status },
})
const placeOrder = (order: number): PetCommand => ({ type: 'placeOrder', orderId: order as OrderId, petId })
const updateOrder = (
  order: number,
  status: OrderStatus,
  { ifMatch, finalVersion }: { ifMatch?: readonly number[] | 'any'; finalVersion?: number } = {},
): PetCommand => ({ type: 'updateOrder', orderId: order as OrderId, status, ifMatch, finalVersion })

const placed = [petCreated(), orderPlaced(12)]
const approved = [...placed, orderApproved(12)]
const delivered = [...approved, orderDelivered(12)]
const cancelled = [...placed, orderCancelled(12)]
const histories: Readonly<Record<OrderStatus, PetEvent[]>> = { placed, approved, delivered, cancelled }

/** The state after the events, one a second from half past nine on. */
function stateAfter(events: readonly PetEvent[]): PetState | undefined {
  return events.reduce(
    (state, event, index) =>
      petDecider.evolve(state, { event, version: index + 1, time: `2026-11-20T09:30:0${index}.000Z` }),
    petDecider.initialState,
  )
}

const error = (code: ErrorCode, message = /./) => ({ code, message })

function given(...events: PetEvent[]) {
  return {
    when: (command: PetCommand) => {
      const decided = petDecider.decide(command, stateAfter(events))
      return {
        // biome-ignore lint/suspicious/noThenProperty: given, when, then; nobody awaits it
        then: (expected: PetEvent | 'unchanged' | ReturnType<typeof error>) => {
          if (typeof expected === 'string' || 'type' in expected) return expect(decided).toEqual(expected)
          expect(decided).toBeInstanceOf(Rejected)
          expect(decided).toMatchObject({ code: expected.code, message: expect.stringMatching(expected.message) })
        },
      }
    },
  }
}

describe('a pet', () => {
  it.each<PetStatus>(['available', 'pending', 'sold'])('is created as %s', (status) =>
    given().when(createPet(status)).then(petCreated(status)),
  )

  it('is created once', () => given(petCreated()).when(createPet()).then(error('conflict')))
})

describe('an available pet can be ordered', () => {
  it('as it was created', () => given(petCreated()).when(placeOrder(12)).then(orderPlaced(12)))

  it('again once its order is cancelled', () =>
    given(...cancelled)
      .when(placeOrder(13))
      .then(orderPlaced(13)))

  it('but not one that is not there', () =>
    given()
      .when(placeOrder(12))
      .then(error('unknown_pet', /pet 7\b/)))

  it.each<PetStatus>(['pending', 'sold'])('but not one that was created as %s', (status) =>
    given(petCreated(status))
      .when(placeOrder(12))
      .then(error('pet_not_available', RegExp(`added as ${status}`))),
  )

  it.each(Object.entries({ placed, approved, delivered }))(
    'but not one whose order is %s, which the error names',
    (_, events) =>
      given(...events)
        .when(placeOrder(13))
        .then(error('pet_not_available', /order 12 holds it/)),
  )
})

describe('an order', () => {
  const allowed: readonly (readonly [OrderStatus, OrderStatus, PetEvent])[] = [
    ['placed', 'approved', orderApproved(12)],
    ['approved', 'delivered', orderDelivered(12)],
    ['placed', 'cancelled', orderCancelled(12)],
    ['approved', 'cancelled', orderCancelled(12)],
  ]
  const pairs = orderStatuses.flatMap((from) => orderStatuses.map((to) => [from, to] as const))
  const isAllowed = ([from, to]: readonly [OrderStatus, OrderStatus]) =>
    allowed.some(([start, end]) => start === from && end === to)

  it.each(allowed)('that is %s becomes %s', (from, to, event) =>
    given(...histories[from])
      .when(updateOrder(12, to))
      .then(event),
  )

  it.each(pairs.filter(([from, to]) => from !== to && !isAllowed([from, to])))(
    'that is %s cannot become %s',
    (from, to) =>
      given(...histories[from])
        .when(updateOrder(12, to))
        .then(error('order_transition_invalid', RegExp(`12 is ${from} and cannot become ${to}`))),
  )

  it.each(orderStatuses)('that is %s already is left as it is, whatever If-Match says', (status) => {
    for (const ifMatch of [undefined, 'any', [], [1]] as const) {
      given(...histories[status])
        .when(updateOrder(12, status, ifMatch && { ifMatch }))
        .then('unchanged')
    }
  })

  it('that nobody placed cannot be updated', () => {
    given()
      .when(updateOrder(12, 'approved'))
      .then(error('order_not_found', /order 12\b/))
    given(petCreated()).when(updateOrder(12, 'approved')).then(error('order_not_found'))
  })

  it('stays cancelled when another one was placed since', () => {
    const history = given(...cancelled, orderPlaced(13))
    history.when(updateOrder(12, 'approved')).then(error('order_transition_invalid', /12 is cancelled/))
    history.when(updateOrder(12, 'cancelled')).then('unchanged')
    history.when(updateOrder(13, 'approved')).then(orderApproved(13))
  })
})

describe('If-Match', () => {
  const history = given(...placed)
  const approve = (ifMatch: readonly number[] | 'any') => history.when(updateOrder(12, 'approved', { ifMatch }))

  it('lets a change through that knows the last version of the order', () => {
    for (const ifMatch of [[2], [1, 2], 'any'] as const) approve(ifMatch).then(orderApproved(12))
  })

  it('stops one that knows another version, or none', () => {
    for (const ifMatch of [[1], [3, 4], []]) approve(ifMatch).then(error('precondition_failed'))
  })

  it('is looked at before the transition', () => {
    const deliver = (ifMatch: readonly number[]) => history.when(updateOrder(12, 'delivered', { ifMatch }))
    deliver([1]).then(error('precondition_failed'))
    deliver([2]).then(error('order_transition_invalid'))
  })

  it('is compared with the version at which an order that others followed was cancelled', () => {
    const followed = given(...cancelled, orderPlaced(13))
    const approveFirst = (ifMatch: readonly number[]) =>
      followed.when(updateOrder(12, 'approved', { ifMatch, finalVersion: 3 }))
    approveFirst([3]).then(error('order_transition_invalid'))
    approveFirst([4]).then(error('precondition_failed'))
  })
})

describe('what happened', () => {
  const placedAt = '2026-11-20T09:30:01.000Z'

  it.each<[OrderStatus, PetStatus, petVersion: number, PetEvent[]]>([
    ['placed', 'pending', 2, []],
    ['approved', 'pending', 2, [orderApproved(12)]],
    ['delivered', 'sold', 4, [orderApproved(12), orderDelivered(12)]],
    ['cancelled', 'available', 3, [orderCancelled(12)]],
  ])('is told by order and pet: an order that is %s, and its pet %s', (status, petStatus, petVersion, events) => {
    const version = 2 + events.length
    expect(stateAfter([petCreated(), orderPlaced(12), ...events])).toEqual({
      pet: { id: petId, ...rex, status: petStatus },
      petVersion,
      order: { id: 12, petId, status, placedAt, updatedAt: `2026-11-20T09:30:0${version - 1}.000Z`, version },
    })
  })

  it('has the times of the events in UTC, and never goes back', () => {
    const placed = { event: orderPlaced(12), version: 2, time: '2026-11-20T10:30:00+01:00' }
    const earlier = { event: orderApproved(12), version: 3, time: '2026-11-20T09:29:59Z' }
    const state = petDecider.evolve(petDecider.evolve(stateAfter([petCreated()]), placed), earlier)
    const at = '2026-11-20T09:30:00.000Z'
    expect(state?.order).toMatchObject({ status: 'approved', placedAt: at, updatedAt: at })
  })

  it.each(['', 'yesterday', '+010000-01-01T00:00:00Z', '-000001-01-01T00:00:00Z'])('is not at the time %j', (time) => {
    expect(() => utc(time)).toThrow('no time of the event')
  })

  it.each<[string, PetEvent[], PetEvent, RegExp]>([
    ['a second creation', [petCreated()], petCreated(), /pet 7 exists already/],
    ['an order of no pet', [], orderPlaced(12), /no pet 7/],
    ['an order of another pet', [petCreated()], orderPlaced(12, 8), /about pet 8/],
    ['an order of a sold pet', [petCreated('sold')], orderPlaced(12), /pet 7 is sold/],
    ['a second order', placed, orderPlaced(13), /pet 7 is pending/],
    ['an event without its order', [petCreated()], orderApproved(12), /order 12 is not the latest/],
    ['an event of an earlier order', [...cancelled, orderPlaced(13)], orderApproved(12), /12 is not the latest/],
    ['an order that was cancelled before', cancelled, orderPlaced(12), /12 exists already/],
    ['a delivery that was not approved', placed, orderDelivered(12), /12 is placed/],
    ['a transition from a final status', cancelled, orderApproved(12), /12 is cancelled/],
  ])('cannot be %s', (_, events, event, reason) => {
    expect(() => stateAfter([...events, event])).toThrow(reason)
  })

  it('is kept in the document of the pet and behind it', () => {
    const time = fc.integer({ min: 0, max: 253_402_300_799_999 }).map((ms) => new Date(ms).toISOString())
    const version = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
    const status = fc.constantFrom(...orderStatuses)
    const order = fc.record({
      id: version.map((id) => id as OrderId),
      status,
      placedAt: time,
      updatedAt: time,
      version,
    })
    const state = fc.record({ pet: anyPet, petVersion: version, order: fc.option(order, { nil: undefined }) })
    fc.assert(
      fc.property(state, ({ pet, petVersion, order }) => {
        const kept = { pet, petVersion, order: order && { ...order, petId: pet.id } }
        const document = { json: petDocument(pet), version: petVersion }
        const read = petStateCodec.read({ document, hidden: petStateCodec.hidden(kept) })
        expect(read).toEqual(kept)
      }),
    )
    expect(petStateCodec.read({ document: undefined, hidden: petStateCodec.hidden(undefined) })).toBeUndefined()
  })
})
