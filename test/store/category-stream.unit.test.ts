import { describe, expect, it } from 'vitest'
import { categories } from '../../projections/categories.ts'
import { Rejected } from '../../src/engine/door/rejected.ts'
import {
  type Category,
  type CategoryChange,
  type CategoryId,
  type NewCategory,
  toCategory,
} from '../../src/store/category.ts'
import type { CategoryEvent } from '../../src/store/category-events.ts'
import { type CategoryCommand, type CategoryState, decide, evolve } from '../../src/store/category-stream.ts'

const id = 7 as CategoryId
const other = 8 as CategoryId
const dogs: NewCategory = { name: 'Dogs' }
const described: NewCategory = { ...dogs, description: 'They like walks' }

const added = (category = dogs): CategoryEvent => ({ type: 'CategoryAdded', id, ...category })
const changed = (category: NewCategory, of = id): CategoryEvent => ({ type: 'CategoryChanged', id: of, ...category })
const removed: CategoryEvent = { type: 'CategoryRemoved', categoryId: id }

const create = (newCategory = dogs): CategoryCommand => ({ type: 'createCategory', id, newCategory })
const change = (change: CategoryChange): CategoryCommand => ({ type: 'changeCategory', id, change })
const remove: CategoryCommand = { type: 'removeCategory', id }

function stateAfter(events: readonly CategoryEvent[]): CategoryState {
  return events.reduce<CategoryState>(
    (state, event, index) => evolve(state, { event, version: index + 1, time: '' }),
    undefined,
  )
}

describe('a category', () => {
  it.each<[what: string, given: CategoryEvent[], when: CategoryCommand, expected: CategoryEvent | string]>([
    ['is added', [], create(), added()],
    ['is added with a description', [], create(described), added(described)],
    ['is added once', [added()], create(), 'conflict'],
    ['gets another name', [added()], change({ name: 'Hounds' }), changed({ name: 'Hounds' })],
    [
      'keeps its description then',
      [added(described)],
      change({ name: 'Hounds' }),
      changed({ ...described, name: 'Hounds' }),
    ],
    ['gets a description', [added()], change({ description: 'They like walks' }), changed(described)],
    ['gets both', [added()], change({ ...described, name: 'Hounds' }), changed({ ...described, name: 'Hounds' })],
    ['loses its description by null', [added(described)], change({ description: null }), changed(dogs)],
    ['is not changed to what it is', [added(described)], change(described), 'unchanged'],
    ['is not changed to what it became', [added(), changed(described)], change(described), 'unchanged'],
    ['is not changed by null where there is no description', [added()], change({ description: null }), 'unchanged'],
    ['is not changed where there is none', [], change({ name: 'Hounds' }), 'category_not_found'],
    ['is not changed once it is gone', [added(), removed], change(dogs), 'category_not_found'],
    ['is removed', [added()], remove, removed],
    ['is removed as it became', [added(), changed(described)], remove, removed],
    ['is not removed twice', [added(), removed], remove, 'unchanged'],
    ['is not removed where there is none', [], remove, 'category_not_found'],
    ['is not added again', [added(), removed], create(), 'conflict'],
  ])('%s', (_, given, when, expected) => {
    const decided = decide(when, stateAfter(given))
    expect(decided instanceof Rejected ? decided.code : decided).toEqual(expected)
  })

  it.each<[what: string, given: CategoryEvent[], event: CategoryEvent, reason: RegExp]>([
    ['a second addition', [added()], added(), /category 7 exists already/],
    ['an addition of one that is gone', [added(), removed], added(), /category 7 exists already/],
    ['a change of none', [], changed(dogs), /no category 7/],
    ['a change of another one', [added()], changed(dogs, other), /about category 8/],
    ['a change of one that is gone', [added(), removed], changed(described), /category 7 is removed/],
    ['a removal of none', [], removed, /no category 7/],
    ['a removal of another one', [added()], { type: 'CategoryRemoved', categoryId: other }, /about category 8/],
    ['a second removal', [added(), removed], removed, /category 7 is removed/],
  ])('is never what %s would make of it', (_, given, event, reason) => {
    expect(() => stateAfter([...given, event])).toThrow(reason)
  })
})

describe('the document of a category', () => {
  const shown = (...events: CategoryEvent[]) => categories.documents(stateAfter(events))
  const document = (json: string | null) => [{ collection: 'categories', id, json }]

  it('has its members in one order, whatever order a request or an event has', () => {
    const mixed = { description: 'They like walks', name: 'Dogs', id } satisfies Category
    const text = '{"id":7,"name":"Dogs","description":"They like walks"}'
    expect(JSON.stringify(toCategory(id, mixed))).toBe(text)
    expect(shown({ ...mixed, type: 'CategoryAdded' })).toEqual(document(text))
    expect(shown(added(), { ...mixed, type: 'CategoryChanged' })).toEqual(document(text))
    const decided = decide(create(mixed), undefined)
    expect(JSON.stringify(decided)).toBe(`{"type":"CategoryAdded",${text.slice(1)}`)
  })

  it('is what became of it, until it is gone', () => {
    expect(shown()).toEqual([])
    expect(shown(added(), changed(described), changed(dogs))).toEqual(document('{"id":7,"name":"Dogs"}'))
    expect(shown(added(described), removed)).toEqual(document(null))
  })
})
