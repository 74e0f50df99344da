import { describe, expect, it } from 'vitest'
import { type Command, decide, type Event, evolve, type State } from '../../examples/loans/loans.ts'
import { Rejected } from '../../src/engine/index.ts'

const [time, due] = ['2026-11-17T00:00:00.000Z', '2026-12-01T00:00:00.000Z']
const added: Event = { type: 'BookAdded', id: 7, title: 'Emma' }
const lent = (loanId = 9): Event => ({ type: 'BookLent', loanId, bookId: 7, memberId: 3, due })
const extended: Event = { type: 'LoanExtended', loanId: 9, due: '2026-12-15T00:00:00.000Z' }
const returned: Event = { type: 'BookReturned', loanId: 9 }

const lend = (loanId = 9): Command => ({ type: 'lend', loanId, memberId: 3, time })
const change = (type: 'extend' | 'return', at = time): Command => ({ type, loanId: 9, time: at })

function stateAfter(events: readonly Event[]): State {
  return events.reduce<State>((state, event, i) => evolve(state, { event, version: i + 1, time }), undefined)
}

describe('given, when, then', () => {
  it.each<[given: readonly Event[], when: Command, then: Event | 'unchanged' | string]>([
    [[], { type: 'add', id: 7, title: 'Emma' }, added],
    [[added], lend(), lent()],
    [[added, lent(), returned], lend(10), lent(10)],
    [[], lend(), 'unknown_book'],
    [[added, lent()], lend(10), 'book_is_lent'],
    [[added, lent()], change('extend'), extended],
    [[added, lent()], change('extend', due), extended],
    [[added, lent()], change('extend', '2026-12-01T00:00:00.001Z'), 'loan_is_overdue'],
    [[added, lent()], change('return'), returned],
    [[added, lent(), returned], change('return'), 'unchanged'],
    [[added, lent(), returned], change('extend'), 'loan_is_over'],
    [[added, lent(), returned, lent(10)], change('extend'), 'loan_is_over'],
    [[added, lent(), returned, lent(10)], change('return'), 'unchanged'],
  ])('%j, %j: %j', (given, when, then) => {
    const decided = decide(when, stateAfter(given))
    expect(decided instanceof Rejected ? decided.code : decided).toEqual(then)
  })
})

it.each<[readonly Event[], reason: string]>([
  [[added, added], 'the book exists'],
  [[lent()], 'there is no such book'],
  [[added, lent(), lent(10)], 'the book is lent'],
  [[added, lent(), returned, lent()], 'loan 9 exists'],
  [[added, returned], 'there is no such open loan'],
  [[added, lent(), returned, extended], 'there is no such open loan'],
])('an event that cannot follow says why: %j', (events, reason) => expect(() => stateAfter(events)).toThrow(reason))
