import { describe, expect, it } from 'vitest'
import { a, b, c, type Given, HistoryBuilder, order, pet, rulesOf } from './history-builder.ts'

const create: Given = { operation: 'createPet', wanted: { name: pet(a).name, categoryId: 7 }, status: undefined }
const place: Given = { operation: 'placeOrder', id: a, status: undefined }

/** Nobody was told what became of the requests. */
function found(write: (found: HistoryBuilder) => void, ...exchanges: readonly Given[]): string[] {
  const history = new HistoryBuilder()
  write(history)
  for (const exchange of exchanges) history.answered(exchange)
  return rulesOf(history)
}

describe('an id', () => {
  it('is drawn once, even if the second event takes no effect', () => {
    const twice = (history: HistoryBuilder) => {
      history.created(pet(a), { request: 0 })
      history.created({ ...pet(a), name: 'other' }, { request: 1 })
    }
    expect(found(twice, create, { ...create, wanted: { name: 'other' } })).toEqual(['an id was drawn twice'])
  })

  it('of an order is drawn once, for whichever pet', () => {
    const twice = (history: HistoryBuilder) => {
      for (const each of [a, b]) history.created(pet(each))
      history.ordered('Placed', order(c, a), { version: 2, request: 0 })
      history.ordered('Placed', order(c, b), { version: 3, request: 1 })
    }
    expect(found(twice, place, { ...place, id: b })).toEqual(['an id was drawn twice'])
  })

  it('of an order may be in several events of its request, or of one that is not of this run', () => {
    const again = (history: HistoryBuilder) => {
      history.created(pet(a))
      history.ordered('Placed', order(b, a), { version: 2 })
      history.ordered('Placed', order(c, a), { version: 2, request: 0 })
      history.ordered('Placed', order(c, a), { version: 3, request: 0 })
      history.ordered('Placed', order(c, a), { version: 3, request: 7 })
    }
    expect(found(again, place)).toEqual(['impossible record'])
  })
})

it('an id of a category is drawn once', () => {
  const createCategory = { operation: 'createCategory', wanted: { name: 'Dogs' }, status: undefined } as const
  const write = (of: readonly number[]) => (history: HistoryBuilder) => {
    for (const [request, id] of of.entries()) history.categorized('Added', { id, name: 'Dogs' }, { request })
  }
  expect(found(write([7, 7]), createCategory, createCategory)).toEqual(['an id was drawn twice'])
  expect(found(write([7]), createCategory)).toEqual([])
})

describe('an event', () => {
  it('is appended once', () => {
    const twice = (history: HistoryBuilder) => {
      for (let time = 0; time < 2; time++) history.created(pet(a), { request: 0, eventId: 'one' })
    }
    expect(found(twice, create)).toEqual(['appended twice'])
  })

  it.each([
    ['another', ['a key has two event ids']],
    ['one', []],
  ])('that adds a pet under a key has the same id each time: %s', (eventId, rules) => {
    const keyed = { ...create, idempotencyKey: 'k' }
    const again = (history: HistoryBuilder) => {
      history.created(pet(a), { request: 0, key: 'hash', eventId: 'one' })
      history.created({ ...pet(b), name: pet(a).name }, { request: 1, key: 'hash', eventId })
    }
    expect(found(again, keyed, keyed)).toEqual(rules)
  })
})
