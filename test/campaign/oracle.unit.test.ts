import { describe, expect, it } from 'vitest'
import type { Exchange } from '../judge/history.ts'
import type { Operation } from '../judge/operations.ts'
import { contradictionsOf } from './oracle.ts'

const times = { session: undefined, instance: 'api-1#1', sentMs: 0, answeredMs: 1 }

function rulesOf(operation: Operation, status: number | undefined, code?: string, more: Partial<Exchange> = {}) {
  const exchange = { number: 0, operation, status, ...(code !== undefined && { code }), ...times, ...more }
  return contradictionsOf({ log: [], exchanges: [exchange] }, 1, true).map(({ rule }) => rule)
}

describe('an answer', () => {
  it.each([
    ['listPets', 503, 'read_model_behind'],
    ['getPet', 404, 'pet_not_found'],
    ['listEvents', 503, 'event_log_unavailable'],
    ['createPet', 504, 'append_outcome_unknown'],
    ['placeOrder', 422, 'unknown_pet'],
    ['updateOrder', undefined, undefined],
    ['lendBook', 409, 'book_is_lent'],
    ['changeLoan', 409, 'loan_is_over'],
  ] as const)('may be expected: %s %i %s', (operation, status, code) => {
    expect(rulesOf(operation, status, code)).toEqual([])
  })

  it.each([
    ['listPets', 401, 'unauthorized'],
    ['getPet', 409, 'pet_not_available'],
    ['getPet', 404, 'order_not_found'],
    ['getOrder', 504, 'append_outcome_unknown'],
    ['listOrders', 404, 'order_not_found'],
    ['createPet', 409, 'order_transition_invalid'],
    ['followEvents', 400, 'invalid_consistency_token'],
    ['changeLoan', 409, 'loan_is_overdue'],
    ['getReservation', 404, 'loan_not_found'],
  ] as const)('is of another operation: %s %i %s', (operation, status, code) => {
    expect(rulesOf(operation, status, code)).toContain('unexpected answer')
  })

  it('has a status of its operation', () => {
    expect(rulesOf('listPets', 201, undefined, { body: [] })).toContain('unexpected answer')
  })

  it('can be read', () => {
    expect(rulesOf('getPet', undefined, undefined, { malformed: '200: Hello' })).toEqual(['malformed answer'])
  })
})
