import { describe, expect, it } from 'vitest'
import { fromStart, type Order } from './history.ts'
import {
  a,
  b,
  c,
  d,
  type Given,
  HistoryBuilder,
  order,
  other,
  partitions,
  pet,
  rulesOf,
  rulesOfAnswers,
  sampleHistory,
  token,
} from './history-builder.ts'
import { checkAgainstLog } from './judge.ts'
import { checkOverlaps } from './petstore.ts'

const getA = (status: 'available' | 'pending', more: object = {}): Given => ({
  ...{ operation: 'getPet', id: a, body: pet(a, status) },
  ...more,
})
const list = (body: readonly object[], page: object = {}, hasNext = false): Given => ({
  ...{ operation: 'listPets', body, hasNext },
  page: { after: 0, limit: 3, ...page },
})
const sorted = (...pets: readonly { id: number }[]) => pets.toSorted((one, two) => one.id - two.id)

describe('reads', () => {
  it('may be of any prefix of each partition', () => {
    const reads = [
      list([]),
      list(sorted(pet(a), pet(b))),
      list(sorted(pet(a, 'pending'), pet(b), pet(other))),
      list([pet(other)], { after: other - 1, limit: 1 }, true),
      list([pet(a, 'pending')], { filters: { status: 'pending' } }),
      { operation: 'getOrder', id: c, body: order(c, a) },
      { operation: 'getOrder', id: c, body: order(c, a, 'approved') },
      { operation: 'getPet', id: d, status: 404, code: 'pet_not_found' },
    ] as const
    expect(rulesOfAnswers(...reads)).toEqual([])
  })

  it('of one instance never go back, unless they overlap, or it was started anew', () => {
    expect(rulesOfAnswers(getA('pending'), getA('available'))).toEqual(['stale read'])
    expect(rulesOfAnswers(getA('pending'), list(sorted(pet(a), pet(b))))).toEqual(['stale read'])
    expect(rulesOfAnswers(getA('pending'), getA('available', { instance: 'api-1#2' }))).toEqual([])
    expect(rulesOfAnswers(getA('pending'), getA('available', { instance: undefined }))).toEqual([])
    expect(rulesOfAnswers(getA('pending'), getA('available', { sentMs: 5 }))).toEqual([])
  })

  it('of one instance are not of an earlier prefix, even if they show the same', () => {
    const other = (offset: number): Given => {
      const named = token([0, offset])
      return { operation: 'getPet', id: b, body: pet(b), token: token(), tokenAfter: named }
    }
    expect(rulesOfAnswers(other(3), other(2))).toEqual(['stale read'])
    expect(rulesOfAnswers(other(3), { ...other(2), instance: 'api-2#1' })).toEqual([])
  })

  it('include what any instance has confirmed', () => {
    const approved = { operation: 'updateOrder', id: c, wanted: { status: 'approved' }, instance: 'api-2#1' } as const
    const confirmed = { ...approved, body: order(c, a, 'approved'), tokenAfter: token([0, 3]) }
    const found = sampleHistory()
    found.ordered('Cancelled', order(c, a), { version: 4, request: 0 })
    found.answered({
      ...confirmed,
      wanted: { status: 'cancelled' },
      body: order(c, a, 'cancelled'),
      tokenAfter: token([0, 4]),
    })
    found.answered({ ...getA('pending'), instance: undefined })
    found.answered({ ...getA('pending'), sentMs: 0 })
    expect(rulesOf(found)).toEqual(['stale read'])
  })

  it('include what their token names', () => {
    const [early, late] = [token([0, 1], [1, 7]), token([0, 2])]
    expect(rulesOfAnswers(getA('available', { token: early, tokenAfter: early }))).toEqual([])
    expect(rulesOfAnswers(getA('available', { token: late, tokenAfter: late }))).toEqual(['stale read'])
    const refused = { operation: 'getPet', id: b, status: 404, code: 'pet_not_found' } as const
    const notFound = { ...refused, token: early, tokenAfter: early }
    expect(rulesOfAnswers(notFound)).toEqual(['stale read'])
    expect(rulesOfAnswers({ ...notFound, status: 503, code: 'read_model_behind' })).toEqual([])
  })

  it('prove nothing of other partitions that their token names', () => {
    const after = token([1, 0], [0, 1])
    expect(
      rulesOfAnswers(getA('available', { token: after, tokenAfter: after }), list(sorted(pet(a), pet(b)))),
    ).toEqual([])
  })

  it('are not of a prefix that never was', () => {
    expect(rulesOfAnswers({ operation: 'getPet', id: a, body: pet(a, 'sold') })).toEqual(['impossible read'])
    expect(rulesOfAnswers({ operation: 'getPet', id: a, body: pet(b) })).toEqual(['impossible read'])
    expect(rulesOfAnswers({ operation: 'getPet', id: d, body: pet(d) })).toEqual(['impossible read'])
    expect(rulesOfAnswers(list(sorted(pet(b))))).toEqual(['impossible read'])
    expect(rulesOfAnswers(list(sorted(pet(a, 'pending'))))).toEqual(['impossible read'])
    expect(rulesOfAnswers(list([pet(a), pet(a)]))).toEqual(['impossible read'])
    expect(rulesOfAnswers(list(sorted(pet(b), pet(a)).reverse()))).toEqual(['impossible read'])
    expect(rulesOfAnswers(list([pet(a)], {}, true))).toEqual(['impossible read'])
    expect(rulesOfAnswers(list([pet(a)], { filters: { status: 'pending' } }))).toEqual(['impossible read'])
  })

  it('show nothing that was not asked for yet', () => {
    const found = new HistoryBuilder()
    found.answered(getA('available'))
    found.created(pet(a), { request: found.nextNumber })
    const wanted = { name: pet(a).name, categoryId: 7 }
    found.answered({ operation: 'createPet', wanted, body: pet(a), tokenAfter: token([0, 0]) })
    expect(rulesOf(found)).toEqual(['read of the future'])
  })

  it.each([
    ['no token', getA('available', { token: token() })],
    ['less than was sent', getA('available', { token: token([0, 1], [1, 0]), tokenAfter: token([0, 1]) })],
    ['less than was told', getA('pending', { token: token(), tokenAfter: token([0, 1]) })],
  ])('have a token that covers both what was sent and what was told: %s', (_name, read) => {
    expect(rulesOfAnswers(read)).toEqual(['token does not cover what was told'])
  })
})

it('a read does not have a token of more than it tells', () => {
  const read = getA('available', { token: token(), tokenAfter: token([0, 2]) })
  expect(rulesOfAnswers(read)).toEqual(['token of more than was told'])
})

describe('a feed', () => {
  const step = (from: string | undefined, to: string): Given => ({
    ...{ operation: 'followEvents', body: [], tokenAfter: to },
    ...(from !== undefined && { token: from }),
  })

  it('begins anywhere up to the end of the log', () => {
    expect(rulesOfAnswers(step(undefined, token()), step(undefined, token([0, 3], [1, 0])))).toEqual([])
    expect(rulesOfAnswers(step(fromStart, token()))).toEqual([])
  })

  it('does not begin beyond it, or elsewhere than was asked for', () => {
    expect(rulesOfAnswers(step(undefined, token([0, 4])))).toEqual(['feed is beyond the log'])
    expect(rulesOfAnswers(step(fromStart, token([1, 0])))).toEqual(['feed differs from the log'])
    expect(rulesOfAnswers(step(token([1, 0]), token()))).toEqual(['feed goes back'])
  })
})

describe('a tag', () => {
  it('comes with every pet and order', () => {
    expect(rulesOfAnswers(getA('available', { tag: undefined }))).toEqual(['no tag'])
    expect(rulesOfAnswers(list([], { tag: undefined }))).toEqual([])
  })
})

describe('the log', () => {
  it('has no gap', () => {
    const found = sampleHistory()
    found.record({ partition: 1, offset: 5, key: null, value: null })
    expect(rulesOf(found)).toEqual(['log has a gap'])
  })

  it('has competing events, but none that contradicts what came before', () => {
    const found = sampleHistory()
    found.ordered('Delivered', order(c, a), { version: 3 })
    expect(rulesOf(found)).toEqual([])
    found.ordered('Placed', order(d, a), { version: 4 })
    expect(rulesOf(found)).toEqual(['impossible record'])
  })

  it('has one open order of a pet at most', () => {
    const record = { partition: 0, offset: 0, key: null, value: null }
    const effect = (id: number, status: Order['status'] = 'placed') => ({
      ...{ type: 'petstore.OrderPlaced.v1', record, since: 1, request: undefined, drawn: undefined },
      shown: [{ collection: 'orders', document: order(id, a, status) }] as const,
    })
    expect([...checkOverlaps([effect(c), effect(d)])]).toMatchObject([{ rule: 'orders overlap' }])
    expect([...checkOverlaps([effect(c), effect(c, 'cancelled'), effect(d)])]).toEqual([])
  })
})

it('tells the exchanges and the records of a contradiction, at most twenty of a rule', () => {
  const found = sampleHistory()
  for (let at = 0; at < 30; at++) found.answered(getA(at === 0 ? 'pending' : 'available'))
  const contradictions = checkAgainstLog(found.history, partitions, false)
  expect(contradictions).toHaveLength(20)
  expect(contradictions[0]?.exchanges.map(({ number }) => number)).toEqual([0, 1])
  expect(contradictions[0]?.records.map(({ offset }) => offset)).toEqual([0, 2])
})
