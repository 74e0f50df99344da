import { describe, expect, it } from 'vitest'
import {
  a,
  b,
  c,
  d,
  e,
  type Given,
  HistoryBuilder,
  idsOf,
  ofStranger,
  order,
  pet,
  rulesOf,
  rulesOfAnswers,
  sampleHistory,
  token,
} from './history-builder.ts'

describe('writes', () => {
  const wanted = { name: pet(d).name, categoryId: 7 }
  const create: Given = { operation: 'createPet', wanted, body: pet(d), tokenAfter: token([0, 4]) }
  const place: Given = { operation: 'placeOrder', id: b, body: order(d, b), tokenAfter: token([0, 4]) }
  const update: Given = { operation: 'updateOrder', id: c, wanted: { status: 'approved' }, tokenAfter: token([0, 3]) }

  /** Each answer is of the request that wrote the event at 0:4, or of a repetition. */
  function rulesOfWrites(kind: 'createPet' | 'placeOrder', ...exchanges: readonly Given[]): string[] {
    const found = sampleHistory()
    if (kind === 'createPet') found.created(pet(d), { request: 0, key: 'hash' })
    else found.ordered('Placed', order(d, b), { version: 2, request: 0 })
    for (const exchange of exchanges) found.answered(exchange)
    return rulesOf(found)
  }
  const keyed: Given = { ...create, idempotencyKey: 'k' }
  const unanswered: Given = { operation: 'createPet', wanted, status: undefined }
  const keyedUnanswered: Given = { ...unanswered, idempotencyKey: 'k' }

  it('are answered with their effect, again under the same key', () => {
    expect(rulesOfWrites('createPet', keyed, { ...keyed, isReplayed: true })).toEqual([])
    expect(rulesOfWrites('createPet', keyedUnanswered, { ...keyed, isReplayed: true })).toEqual([])
    expect(rulesOfWrites('placeOrder', place)).toEqual([])
    expect(rulesOfAnswers({ ...update, body: order(c, a, 'approved') })).toEqual([])
  })

  it('are not lost', () => {
    expect(rulesOfAnswers(create)).toEqual(['lost write'])
    expect(rulesOfAnswers({ ...update, wanted: { status: 'cancelled' }, body: order(c, a, 'cancelled') })).toEqual([
      'lost write',
    ])
    const superseded = sampleHistory()
    superseded.ordered('Placed', order(d, a), { version: 2, request: 0 })
    superseded.answered({ ...place, id: a, body: order(d, a) })
    expect(rulesOf(superseded)).toEqual(['lost write'])
  })

  it('are lost to what had their id before a loss, if they could not be read yet', () => {
    const found = sampleHistory()
    found.created({ ...pet(d), name: 'before the loss' })
    found.created(pet(d), { request: 0 })
    found.answered({ ...create, isApplied: false, tokenAfter: token([0, 5]) })
    expect(rulesOf(found)).toEqual([])
    found.answered({ ...create, tokenAfter: token([0, 5]) })
    expect(rulesOf(found)).toEqual(['lost write'])
  })

  it('are replayed although the request that made them came before a loss', () => {
    const found = sampleHistory()
    found.created(pet(d), { key: 'hash' })
    found.answered({ ...keyed, isReplayed: true })
    expect(rulesOf(found)).toEqual([])
    found.answered({ ...keyed, isReplayed: true, body: pet(e) })
    expect(rulesOf(found)).toEqual(['lost write'])
  })

  it('take effect once', () => {
    const found = sampleHistory()
    const [twin = 0] = idsOf(1, 2).slice(1)
    found.created(pet(d), { request: 0 })
    found.created({ ...pet(twin), name: wanted.name })
    found.answered(create)
    expect(rulesOf(found)).toEqual(['doubled write'])
  })

  it('are answered with the truth', () => {
    expect(rulesOfWrites('createPet', { ...create, body: pet(d, 'sold') })).toEqual(['untrue answer'])
    expect(rulesOfWrites('createPet', { ...create, body: pet(b) })).toEqual(['untrue answer'])
    expect(rulesOfWrites('placeOrder', { ...place, body: order(d, a) })).toEqual(['untrue answer'])
    expect(rulesOfWrites('createPet', keyedUnanswered, keyed)).toEqual(['untrue answer'])
    expect(rulesOfAnswers({ ...update, body: order(c, a, 'placed') })).toEqual(['untrue answer'])
    const placed = { ...update, wanted: { status: 'placed' }, body: order(c, a), token: token([0, 3]) }
    expect(rulesOfAnswers(placed)).toEqual(['untrue answer'])
  })

  it('have a token that covers their event', () => {
    const rules = rulesOfWrites('createPet', { ...create, tokenAfter: token([0, 3]) })
    expect(rules).toEqual(['token does not cover what was told'])
  })

  it('have one outcome under a key', () => {
    const again = { ...keyed, isReplayed: true, body: { ...pet(d), categoryId: 8 } }
    expect(rulesOfWrites('createPet', keyed, again)).toEqual(['untrue answer'])
  })

  it('are in the log before they are confirmed', () => {
    const found = sampleHistory()
    found.created(pet(e), { request: 1 })
    found.created(pet(d), { request: 0 })
    found.answered({ ...create, tokenAfter: token([0, 5]) })
    found.answered({ ...unanswered, wanted: { name: pet(e).name, categoryId: 7 } })
    expect(rulesOf(found)).toEqual(['confirmed too early'])
  })

  it('have the effect that they wanted, even if nobody was told', () => {
    expect(rulesOfWrites('createPet', { ...unanswered, wanted: { ...wanted, status: 'sold' } })).toEqual([
      'not what was asked for',
    ])
    expect(rulesOfWrites('placeOrder', { ...unanswered, operation: 'placeOrder', id: a })).toEqual([
      'not what was asked for',
    ])
    const rulesOfUpdate = (status: string, id = c) => {
      const found = sampleHistory()
      found.ordered('Delivered', order(c, a), { version: 4, request: 0 })
      found.answered({ operation: 'updateOrder', id, wanted: { status }, status: undefined })
      return rulesOf(found)
    }
    expect(rulesOfUpdate('delivered')).toEqual([])
    expect(rulesOfUpdate('cancelled')).toEqual(['not what was asked for'])
    expect(rulesOfUpdate('delivered', d)).toEqual(['not what was asked for'])
  })

  it('are of this run or of a stranger, unless some of it is forgotten', () => {
    const found = new HistoryBuilder()
    found.created(pet(d), { request: 0 })
    found.answered(unanswered)
    found.created(pet(b), ofStranger)
    expect(rulesOf(found, true)).toEqual([])
    found.created(pet(a))
    expect(rulesOf(found, true)).toEqual(['nobody asked for it'])
    expect(rulesOf(found)).toEqual([])
  })

  it('have no effect if they were refused', () => {
    const refused = { ...unanswered, status: 503 }
    expect(rulesOfWrites('createPet', { ...refused, code: 'overloaded' })).toEqual(['refused, but in the log'])
    expect(rulesOfWrites('createPet', { ...refused, code: 'append_outcome_unknown' })).toEqual([])
    expect(rulesOfWrites('createPet', { ...refused, code: 'internal_error' })).toEqual(['internal error'])
  })
})

describe('errors', () => {
  const late = token([0, 3])
  const place = (id: number, code: string, more: object = {}): Given => ({ operation: 'placeOrder', id, code, ...more })
  const update = (id: number, code: string, status: string, more: object = {}): Given => ({
    ...{ operation: 'updateOrder', id, code, wanted: { status } },
    ...more,
  })

  it.each([
    place(a, 'pet_not_available', { token: late }),
    place(b, 'unknown_pet', { token: token([0, 0]) }),
    update(d, 'order_not_found', 'approved', { token: late, tokenAfter: late }),
    update(c, 'order_transition_invalid', 'delivered'),
    update(c, 'order_transition_invalid', 'placed', { token: late }),
  ])('have a reason: $code', (refusal) => {
    expect(rulesOfAnswers(refusal)).toEqual([])
  })

  it.each([
    ['impossible refusal', place(b, 'pet_not_available')],
    ['impossible refusal', update(c, 'order_transition_invalid', 'cancelled')],
    ['impossible refusal', { operation: 'createPet', code: 'idempotency_key_reused' } as const],
    ['stale refusal', place(b, 'unknown_pet', { token: late })],
    ['stale refusal', update(c, 'order_not_found', 'approved', { token: late, tokenAfter: late })],
    ['token does not cover what was told', update(d, 'order_not_found', 'approved', { token: late })],
    ['impossible refusal', update(c, 'precondition_failed', 'cancelled')],
    ['stale refusal', update(c, 'order_transition_invalid', 'delivered', { token: late })],
  ])('%s: have none', (rule, refusal) => {
    expect(rulesOfAnswers(refusal)).toEqual([rule])
  })
})
